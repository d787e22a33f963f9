/* Fuzzing the loops of the policy `predict`: forests and beliefs of any numbers, of sizes as its bindings admit them.
 *
 * Nothing is read or written outside of the arrays. Where all numbers are such as occur, what comes out can be
 * calculated with: variances are positive, weights of places add up to 1, nobody saves less than nothing. */

#include <math.h>

#include "../ipmicra/native/delegate/predict.h"
#include "input.h"

enum { MOST_NODES = 6, MOST_LEVELS = 3, MOST_TREES = 2, MOST_COMMON = 2, MOST_PLACES = 4, MOST_SAMPLES = 2, MOST_BLOCKS = 3 };

/* The input, whether its numbers are to be such as occur, and what must be freed. */
typedef struct {
    Input input;
    bool is_usual;
    Kept kept;
} Source;

static void *keep(Source *source, size_t bytes) {
    return keep_block(&source->kept, take_block(&(Input){NULL, 0}, bytes));
}

static double take_number(Source *source, double least, double most) {
    static const double odd[] = {INFINITY, -INFINITY, NAN, 1e300, -1e300, 1e-300};
    uint64_t byte = take(&source->input, 1);
    if (source->is_usual)
        return least + (most - least) * (double)byte / 255;
    return byte >= 250 ? odd[byte - 250] : (double)(int8_t)byte;
}

static double *take_numbers(Source *source, size_t count, double least, double most) {
    double *numbers = keep(source, count * sizeof *numbers);
    for (size_t i = 0; i < count; i++)
        numbers[i] = take_number(source, least, most);
    return numbers;
}

static float take_float(Source *source, double least, double most) {
    double number = take_number(source, least, most);
    return fabs(number) > 1e30 && isfinite(number) ? 1e30F : (float)number;
}

/* The first is of nothing. */
static Block *take_blocks(Source *source, size_t count) {
    Block *blocks = keep(source, count * sizeof *blocks);
    for (size_t i = 1; i < count; i++)
        for (size_t k = 0; k < BLOCK; k++) {
            blocks[i].precision[k] = take_float(source, 0.0, 50.0);
            blocks[i].weight[k] = take_float(source, -90.0, 90.0);
        }
    return blocks;
}

/* Give every node a block for each column, of which messages may need any. */
static int32_t *take_index(Source *source, size_t count, size_t blocks) {
    int32_t *index = keep(source, count * sizeof *index);
    for (size_t i = 0; i < count; i++)
        index[i] = 1 + (int32_t)(take(&source->input, 1) % (blocks - 1));
    return index;
}

static int64_t *take_rows(Source *source, size_t count, size_t limit) {
    int64_t *rows = keep(source, count * sizeof *rows);
    for (size_t i = 0; i < count; i++)
        rows[i] = (int64_t)(take(&source->input, 1) % limit);
    return rows;
}

static bool are_finite(const double *numbers, size_t count, double least) {
    for (size_t i = 0; i < count; i++)
        if (!isfinite(numbers[i]) || numbers[i] < least)
            return false;
    return true;
}

static void check_forest(Source *source) {
    size_t nodes = 1 + take(&source->input, 1) % MOST_NODES, crawlers = 1 + take(&source->input, 1) % 18;
    size_t levels = 1 + take(&source->input, 1) % MOST_LEVELS, trees = 1 + take(&source->input, 1) % MOST_TREES;
    size_t common = 1 + take(&source->input, 1) % MOST_COMMON, said = take(&source->input, 1) % 3;
    size_t columns = (crawlers + BLOCK - 1) / BLOCK, blocks = 2 + take(&source->input, 1) % MOST_BLOCKS;
    Forest forest = {take_index(source, nodes * columns, blocks), take_blocks(source, blocks), nodes, columns, blocks};
    Branch branch = {.levels = levels, .tree_count = trees, .common_count = common};
    branch.trees = take_rows(source, levels * trees, nodes);
    branch.tree_squares = take_numbers(source, levels, 0.01, 4.0);
    branch.common = take_rows(source, common, nodes);
    branch.common_squares = take_numbers(source, common, 0.01, 4.0);
    Message message = {.count = said};
    message.crawlers = take_rows(source, said, crawlers);
    message.precision = take_numbers(source, said, 0.0, 20.0);
    message.weight = take_numbers(source, said, -40.0, 40.0);
    double *mean = keep(source, crawlers * sizeof *mean), *variance = keep(source, crawlers * sizeof *variance);
    for (int turn = 0; turn < 2; turn++) {
        expect_branch(&forest, &branch, crawlers, mean, variance);
        if (source->is_usual && (!are_finite(mean, crawlers, -INFINITY) || !are_finite(variance, crawlers, 0.0)))
            abort();
        learn_branch(&forest, &branch, &message);
    }
}

/* Variances and one column of a plausible covariance: of a common cause and of each crawler's own. */
static double *take_column(Source *source, const double *variances, size_t crawlers, size_t crawler) {
    if (!source->is_usual)
        return take_numbers(source, crawlers, 0.0, 0.0);
    double *column = keep(source, crawlers * sizeof *column), shared = take_number(source, 0.0, 0.05);
    for (size_t i = 0; i < crawlers; i++)
        column[i] = i == crawler ? variances[i] : shared;
    return column;
}

static void check_saved(Source *source, const double *saved, size_t crawlers) {
    if (source->is_usual && !are_finite(saved, crawlers, -1e-6))
        abort();
}

static void check_belief(Source *source) {
    size_t places = 1 + take(&source->input, 1) % MOST_PLACES, crawlers = 1 + take(&source->input, 1) % 4;
    size_t samples = take(&source->input, 1) % (MOST_SAMPLES + 1), pairs = places * crawlers;
    Belief belief = {.places = places, .crawlers = crawlers, .samples = samples};
    belief.offset_ms = take_number(source, 0.1, 5.0);
    belief.tail = take_number(source, 1.0, 9.0);
    belief.prior = take_numbers(source, pairs, -2.0, 6.0);
    double *floors = take_numbers(source, pairs, 0.0, 100.0);
    belief.least = take_numbers(source, pairs, 0.0, 100.0);
    for (size_t i = 0; i < pairs; i++) /* floors have the offset in them */
        floors[i] += belief.offset_ms;
    belief.floors = floors;
    belief.scores = take_numbers(source, places, -9.0, 0.0);
    belief.variances = take_numbers(source, crawlers, 0.05, 3.0);
    belief.deviations = take_numbers(source, samples * places, -2.0, 2.0);
    belief.gains = take_numbers(source, samples * crawlers, -1.0, 1.0);
    Seen seen = {take(&source->input, 1) % crawlers, take_number(source, 0.0, 300.0), take_number(source, 0.0, 1.0)};
    const double *column = take_column(source, belief.variances, crawlers, seen.crawler);
    After after = {.scores = keep(source, places * sizeof(double))};
    after.variances = keep(source, crawlers * sizeof(double));
    after.deviations = keep(source, (samples + 1) * places * sizeof(double));
    after.gains = keep(source, (samples + 1) * crawlers * sizeof(double));
    condition_belief(&belief, column, seen, &after);
    double total = 0.0, found = 0.0, *saved = keep(source, crawlers * sizeof *saved);
    for (size_t i = 0; i < places; i++)
        total += exp(after.scores[i]);
    if (source->is_usual && !are_finite(after.variances, crawlers, 0.0))
        abort();
    if (source->is_usual && (fabs(total - 1.0) > 1e-6 || !isfinite(after.evidence) || !(after.surprise >= 0.0)))
        abort();
    double points[3] = {-1.0, 0.0, 1.0};
    Value value = {take_number(source, 0.1, 300.0), take_number(source, 1.0, 900.0), take_number(source, 0.0, 0.01),
                   take_number(source, 1.0, 2.0), take_number(source, 0.001, 0.1), points, 3};
    if (!save_over_known(&belief, &value, saved))
        abort();
    check_saved(source, saved, crawlers);
    if (!save_over_expected(&belief, column, &value, seen.crawler, saved))
        abort();
    check_saved(source, saved, crawlers);
    if (!expect_logarithm(&belief, seen.crawler, value.least_weight, &found) || (source->is_usual && !isfinite(found)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Source source = {.input = {data, size}};
    uint64_t shape = take(&source.input, 1);
    source.is_usual = shape & 2;
    if (shape & 1)
        check_forest(&source);
    else
        check_belief(&source);
    free_kept(&source.kept);
    return 0;
}
