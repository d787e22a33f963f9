/* The functions of `predict`, as Python calls them. */

#include "../delegate/predict.h"
#include "arrays.h"

/* Take a tuple of so many objects; NULL with an error if it is none. */
static bool is_tuple(Frame *frame, PyObject *object, Py_ssize_t size) {
    expect(frame, PyTuple_Check(object) && PyTuple_Size(object) == size, "a tuple of another size");
    return !frame->is_failed;
}

/* Take a forest: precision, weight, of which every node has a row. */
static Forest take_forest(Frame *frame, PyObject *precision, PyObject *weight) {
    Array one = take_array(frame, precision, "wf4"), other = take_array(frame, weight, "wf4");
    size_t crawlers = one.rows ? one.count / one.rows : 0;
    expect(frame, one.count == other.count && crawlers > 0 && one.count == one.rows * crawlers, "no forest");
    return (Forest){one.data, other.data, one.rows, crawlers};
}

static void expect_rows(Frame *frame, Array numbers, size_t limit, const char *message) {
    const int64_t *number = numbers.data;
    for (size_t i = 0; !frame->is_failed && i < numbers.count; i++)
        expect(frame, number[i] >= 0 && (size_t)number[i] < limit, message);
}

/* Take a branch: a tuple of trees, tree_squares, common, common_squares. */
static Branch take_branch(Frame *frame, PyObject *object, size_t nodes) {
    if (!is_tuple(frame, object, 4))
        return (Branch){.levels = 0};
    Array trees = take_array(frame, PyTuple_GetItem(object, 0), "i8");
    Array tree_squares = take_array(frame, PyTuple_GetItem(object, 1), "f8");
    Array common = take_array(frame, PyTuple_GetItem(object, 2), "i8");
    Array common_squares = take_array(frame, PyTuple_GetItem(object, 3), "f8");
    size_t count = trees.rows ? trees.count / trees.rows : 0;
    expect(frame, count > 0 && trees.count == trees.rows * count && tree_squares.count == trees.rows &&
                      common.count > 0 && common_squares.count == common.count, "no branch");
    expect_rows(frame, trees, nodes, "no such node");
    expect_rows(frame, common, nodes, "no such node");
    return (Branch){trees.data, tree_squares.data, common.data, common_squares.data, trees.rows, count, common.count};
}

FUNCTION(expect_branch, 5) {
    Forest forest = take_forest(frame, args[0], args[1]);
    Branch branch = take_branch(frame, args[2], forest.nodes);
    Array mean = take_array(frame, args[3], "wf8"), variance = take_array(frame, args[4], "wf8");
    expect(frame, mean.count == forest.crawlers && variance.count == forest.crawlers, "a number for each crawler is needed");
    if (!frame->is_failed)
        expect_branch(&forest, &branch, mean.data, variance.data);
    return return_number(frame, 0);
}

FUNCTION(learn_branch, 6) {
    Forest forest = take_forest(frame, args[0], args[1]);
    Branch branch = take_branch(frame, args[2], forest.nodes);
    Array crawlers = take_array(frame, args[3], "i8"), precision = take_array(frame, args[4], "f8");
    Array weight = take_array(frame, args[5], "f8");
    expect(frame, precision.count == crawlers.count && weight.count == crawlers.count, "columns of different lengths");
    expect_rows(frame, crawlers, forest.crawlers, "no such crawler");
    Message message = {crawlers.data, precision.data, weight.data, crawlers.count};
    if (!frame->is_failed)
        learn_branch(&forest, &branch, &message);
    return return_number(frame, 0);
}

/* Take a belief: a tuple of prior, floors, least, scores, covariance, deviations, gains, offset_ms, tail. */
static Belief take_belief(Frame *frame, PyObject *object) {
    enum { ARRAYS = 7 };
    Array parts[ARRAYS] = {{NULL, 0, 0}};
    if (!is_tuple(frame, object, ARRAYS + 2))
        return (Belief){.places = 0};
    for (int i = 0; i < ARRAYS; i++)
        parts[i] = take_array(frame, PyTuple_GetItem(object, i), "f8");
    double offset_ms = take_float(frame, PyTuple_GetItem(object, ARRAYS));
    double tail = take_float(frame, PyTuple_GetItem(object, ARRAYS + 1));
    size_t places = parts[3].count, crawlers = parts[4].rows, samples = parts[5].rows, pairs = places * crawlers;
    expect(frame, pairs > 0 && parts[0].count == pairs && parts[1].count == pairs && parts[2].count == pairs &&
                      parts[4].count == crawlers * crawlers && parts[5].count == samples * places &&
                      parts[6].count == samples * crawlers, "no belief");
    return (Belief){parts[0].data, parts[1].data, parts[2].data, parts[3].data, parts[4].data, parts[5].data,
                    parts[6].data, places, crawlers, samples, offset_ms, tail};
}

FUNCTION(condition_belief, 8) {
    Belief belief = take_belief(frame, args[0]);
    int64_t crawler = take_number(frame, args[1]);
    Seen seen = {(size_t)crawler, take_float(frame, args[2]), take_float(frame, args[3])};
    Array scores = take_array(frame, args[4], "wf8"), covariance = take_array(frame, args[5], "wf8");
    Array deviations = take_array(frame, args[6], "wf8"), gains = take_array(frame, args[7], "wf8");
    expect(frame, crawler >= 0 && seen.crawler < belief.crawlers, "no such crawler");
    expect(frame, scores.count == belief.places && covariance.count == belief.crawlers * belief.crawlers &&
                      deviations.count == (belief.samples + 1) * belief.places &&
                      gains.count == (belief.samples + 1) * belief.crawlers, "no room for a belief");
    After after = {scores.data, covariance.data, deviations.data, gains.data, 0.0, 0.0};
    if (!frame->is_failed)
        condition_belief(&belief, seen, &after);
    return frame->is_failed ? NULL : Py_BuildValue("dd", after.evidence, after.surprise);
}

FUNCTION(save_over_known, 8) {
    Belief belief = take_belief(frame, args[0]);
    Value value = {.best_ms = take_float(frame, args[1])};
    value.fixed_ms = take_float(frame, args[2]);
    value.least_weight = take_float(frame, args[3]);
    value.widening = take_float(frame, args[4]);
    value.least_variance = take_float(frame, args[5]);
    Array points = take_array(frame, args[6], "f8"), saved = take_array(frame, args[7], "wf8");
    expect(frame, points.count > 0 && saved.count == belief.crawlers, "a number for each crawler is needed");
    value.points = points.data;
    value.count = points.count;
    if (!frame->is_failed)
        expect_memory(frame, save_over_known(&belief, &value, saved.data));
    return return_number(frame, 0);
}

FUNCTION(save_over_expected, 6) {
    Belief belief = take_belief(frame, args[0]);
    int64_t holder = take_number(frame, args[1]);
    Value value = {.fixed_ms = take_float(frame, args[2])};
    value.least_weight = take_float(frame, args[3]);
    value.least_variance = take_float(frame, args[4]);
    Array saved = take_array(frame, args[5], "wf8");
    expect(frame, holder >= 0 && (size_t)holder < belief.crawlers, "no such crawler");
    expect(frame, saved.count == belief.crawlers, "a number for each crawler is needed");
    if (!frame->is_failed)
        expect_memory(frame, save_over_expected(&belief, &value, (size_t)holder, saved.data));
    return return_number(frame, 0);
}

FUNCTION(expect_logarithm, 3) {
    Belief belief = take_belief(frame, args[0]);
    int64_t crawler = take_number(frame, args[1]);
    double least_weight = take_float(frame, args[2]), found = 0.0;
    expect(frame, crawler >= 0 && (size_t)crawler < belief.crawlers, "no such crawler");
    if (!frame->is_failed)
        expect_memory(frame, expect_logarithm(&belief, (size_t)crawler, least_weight, &found));
    return frame->is_failed ? NULL : PyFloat_FromDouble(found);
}

PyMethodDef delegate_functions[] = {
    METHOD(expect_branch, "Write mean and variance of every crawler at the end of a branch."),
    METHOD(learn_branch, "Send a message about some crawlers up a branch."),
    METHOD(condition_belief, "Write a belief after a sample; return the logarithm of its density and its surprise."),
    METHOD(save_over_known, "Write what a probe by each crawler may save."),
    METHOD(save_over_expected, "Write what each crawler may save beside a holder without a sample."),
    METHOD(expect_logarithm, "Return the expected logarithm of a crawler's round trip."),
    {NULL, NULL, 0, NULL},
};
