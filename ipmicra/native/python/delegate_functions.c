/* The functions of `predict`, as Python calls them. */

#include "../delegate/predict.h"
#include "arrays.h"

/* Take a tuple of so many objects; NULL with an error if it is none. */
static bool is_tuple(Frame *frame, PyObject *object, Py_ssize_t size) {
    expect(frame, PyTuple_Check(object) && PyTuple_Size(object) == size, "a tuple of another size");
    return !frame->is_failed;
}

/* Take a forest: the numbers of the blocks of each node, and the blocks. */
static Forest take_forest(Frame *frame, PyObject *index, PyObject *blocks) {
    Array numbers = take_array(frame, index, "i4"), data = take_array(frame, blocks, "wf4");
    size_t columns = numbers.rows ? numbers.count / numbers.rows : 0;
    expect(frame, columns > 0 && numbers.count == numbers.rows * columns && data.count > 0 &&
                      data.count % (sizeof(Block) / sizeof(float)) == 0, "no forest");
    return (Forest){numbers.data, data.data, numbers.rows, columns, data.count / (sizeof(Block) / sizeof(float))};
}

static void expect_rows(Frame *frame, Array numbers, size_t limit, const char *message) {
    const int64_t *number = numbers.data;
    for (size_t i = 0; !frame->is_failed && i < numbers.count; i++)
        expect(frame, number[i] >= 0 && (size_t)number[i] < limit, message);
}

/* Expect nodes that a forest has, and blocks that it has of them. */
static void expect_nodes(Frame *frame, const Forest *forest, Array nodes) {
    expect_rows(frame, nodes, forest->nodes, "no such node");
    const int64_t *node = nodes.data;
    for (size_t i = 0; !frame->is_failed && i < nodes.count; i++) {
        const int32_t *blocks = forest->index + (size_t)node[i] * forest->columns;
        bool is_sound = true;
        for (size_t column = 0; column < forest->columns; column++)
            is_sound = is_sound && blocks[column] >= 0 && (size_t)blocks[column] < forest->block_count;
        expect(frame, is_sound, "no such block");
    }
}

/* Expect blocks for some crawlers that a node's messages can be written to. */
static void expect_room(Frame *frame, const Forest *forest, const int64_t *nodes, size_t count, Array crawlers) {
    const int64_t *crawler = crawlers.data;
    for (size_t i = 0; !frame->is_failed && i < count * crawlers.count; i++) {
        size_t node = (size_t)nodes[i / crawlers.count], column = (size_t)crawler[i % crawlers.count] / BLOCK;
        expect(frame, forest->index[node * forest->columns + column] > 0, "no room for a message");
    }
}

/* Take a branch: a tuple of trees, tree_squares, common, common_squares. */
static Branch take_branch(Frame *frame, PyObject *object, const Forest *forest) {
    if (!is_tuple(frame, object, 4))
        return (Branch){.levels = 0};
    Array trees = take_array(frame, PyTuple_GetItem(object, 0), "i8");
    Array tree_squares = take_array(frame, PyTuple_GetItem(object, 1), "f8");
    Array common = take_array(frame, PyTuple_GetItem(object, 2), "i8");
    Array common_squares = take_array(frame, PyTuple_GetItem(object, 3), "f8");
    size_t count = trees.rows ? trees.count / trees.rows : 0;
    expect(frame, count > 0 && trees.count == trees.rows * count && tree_squares.count == trees.rows &&
                      common.count > 0 && common_squares.count == common.count, "no branch");
    expect_nodes(frame, forest, trees);
    expect_nodes(frame, forest, common);
    return (Branch){trees.data, tree_squares.data, common.data, common_squares.data, trees.rows, count, common.count};
}

FUNCTION(expect_branch, 5) {
    Forest forest = take_forest(frame, args[0], args[1]);
    Branch branch = take_branch(frame, args[2], &forest);
    Array mean = take_array(frame, args[3], "wf8"), variance = take_array(frame, args[4], "wf8");
    expect(frame, mean.count <= forest.columns * BLOCK && variance.count == mean.count,
           "a number for each crawler is needed");
    if (!frame->is_failed)
        expect_branch(&forest, &branch, mean.count, mean.data, variance.data);
    return return_number(frame, 0);
}

FUNCTION(learn_branch, 6) {
    Forest forest = take_forest(frame, args[0], args[1]);
    Branch branch = take_branch(frame, args[2], &forest);
    Array crawlers = take_array(frame, args[3], "i8"), precision = take_array(frame, args[4], "f8");
    Array weight = take_array(frame, args[5], "f8");
    expect(frame, precision.count == crawlers.count && weight.count == crawlers.count, "columns of different lengths");
    expect_rows(frame, crawlers, forest.columns * BLOCK, "no such crawler");
    expect_room(frame, &forest, branch.trees, branch.levels * branch.tree_count, crawlers);
    expect_room(frame, &forest, branch.common, branch.common_count, crawlers);
    Message message = {crawlers.data, precision.data, weight.data, crawlers.count};
    if (!frame->is_failed)
        learn_branch(&forest, &branch, &message);
    return return_number(frame, 0);
}

/* Take a belief: a tuple of prior, floors, least, scores, variances, deviations, gains, offset_ms, tail. */
static Belief take_belief(Frame *frame, PyObject *object) {
    enum { ARRAYS = 7 };
    Array parts[ARRAYS] = {{NULL, 0, 0}};
    if (!is_tuple(frame, object, ARRAYS + 2))
        return (Belief){.places = 0};
    for (int i = 0; i < ARRAYS; i++)
        parts[i] = take_array(frame, PyTuple_GetItem(object, i), "f8");
    double offset_ms = take_float(frame, PyTuple_GetItem(object, ARRAYS));
    double tail = take_float(frame, PyTuple_GetItem(object, ARRAYS + 1));
    size_t places = parts[3].count, crawlers = parts[4].count, samples = parts[5].rows, pairs = places * crawlers;
    expect(frame, pairs > 0 && parts[0].count == pairs && parts[1].count == pairs && parts[2].count == pairs &&
                      parts[5].count == samples * places &&
                      parts[6].count == samples * crawlers, "no belief");
    return (Belief){parts[0].data, parts[1].data, parts[2].data, parts[3].data, parts[4].data, parts[5].data,
                    parts[6].data, places, crawlers, samples, offset_ms, tail};
}

FUNCTION(condition_belief, 9) {
    Belief belief = take_belief(frame, args[0]);
    Array column = take_array(frame, args[1], "f8");
    int64_t crawler = take_number(frame, args[2]);
    Seen seen = {(size_t)crawler, take_float(frame, args[3]), take_float(frame, args[4])};
    Array scores = take_array(frame, args[5], "wf8"), variances = take_array(frame, args[6], "wf8");
    Array deviations = take_array(frame, args[7], "wf8"), gains = take_array(frame, args[8], "wf8");
    expect(frame, crawler >= 0 && seen.crawler < belief.crawlers, "no such crawler");
    expect(frame, column.count == belief.crawlers, "a number for each crawler is needed");
    expect(frame, scores.count == belief.places && variances.count == belief.crawlers &&
                      deviations.count == (belief.samples + 1) * belief.places &&
                      gains.count == (belief.samples + 1) * belief.crawlers, "no room for a belief");
    After after = {scores.data, variances.data, deviations.data, gains.data, 0.0, 0.0};
    if (!frame->is_failed)
        condition_belief(&belief, column.data, seen, &after);
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

FUNCTION(save_over_expected, 7) {
    Belief belief = take_belief(frame, args[0]);
    Array column = take_array(frame, args[1], "f8");
    int64_t holder = take_number(frame, args[2]);
    Value value = {.fixed_ms = take_float(frame, args[3])};
    value.least_weight = take_float(frame, args[4]);
    value.least_variance = take_float(frame, args[5]);
    Array saved = take_array(frame, args[6], "wf8");
    expect(frame, holder >= 0 && (size_t)holder < belief.crawlers, "no such crawler");
    expect(frame, column.count == belief.crawlers && saved.count == belief.crawlers,
           "a number for each crawler is needed");
    if (!frame->is_failed)
        expect_memory(frame, save_over_expected(&belief, column.data, &value, (size_t)holder, saved.data));
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
