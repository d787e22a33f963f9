/* Expectations at the end of a branch, and messages that climb it: exact inference on trees, as
 * `ipmicra/delegate/policies/predict/forest.py` explains it.
 *
 * A node has a precision and a weight (precision times value) for each crawler: the sum of all messages that reached
 * it. What it passes on to its parent is that sum, damped by its own spread. Going down a branch, a node must not hear
 * its own child's message again, so that is taken off first. Some crawlers are handled at a time, so that the compiler
 * can use vectors; and kept at a time, because few of a large fleet ever measure a site of one subnet. */

#include <string.h>

#include "predict.h"

/* One number per crawler of a block. */
typedef struct {
    double precision[BLOCK];
    double weight[BLOCK];
} Messages;

static const Block *block_of(const Forest *forest, int64_t node, size_t column) {
    return forest->blocks + forest->index[(size_t)node * forest->columns + column];
}

static void load(const Forest *forest, int64_t node, size_t column, Messages *out) {
    const Block *block = block_of(forest, node, column);
    for (size_t k = 0; k < BLOCK; k++) {
        out->precision[k] = (double)block->precision[k];
        out->weight[k] = (double)block->weight[k];
    }
}

/* What rises from a node into its parent. */
static void damp(Messages *messages, double square) {
    for (size_t k = 0; k < BLOCK; k++) {
        double damping = 1.0 / (1.0 + messages->precision[k] * square);
        messages->precision[k] *= damping;
        messages->weight[k] *= damping;
    }
}

/* Go down to a node: what its parent expects (`weight` is the mean, `precision` the variance here), wider by the spread,
 * joined with what the node knows besides its child. Single precision may lose the child's share: a node never knows
 * less than it received from its parent. */
static void step_down(Messages *expected, const Messages *own, const Messages *child, double square) {
    for (size_t k = 0; k < BLOCK; k++) {
        double precision = own->precision[k] - child->precision[k];
        double weight = precision > 0.0 ? own->weight[k] - child->weight[k] : 0.0;
        precision = precision > 0.0 ? precision : 0.0;
        double inverse = 1.0 / (expected->precision[k] + square);
        double variance = 1.0 / (inverse + precision);
        expected->weight[k] = (expected->weight[k] * inverse + weight) * variance;
        expected->precision[k] = variance;
    }
}

/* Go down the nodes `nodes[0]`, `nodes[stride]`, …; `below` rises into the last of them. */
static void descend(const Forest *forest, const int64_t *nodes, size_t stride, const double *squares, size_t levels,
                    size_t column, const Messages *below, Messages *expected) {
    Messages own, next, child;
    load(forest, nodes[0], column, &own);
    for (size_t level = 0; level + 1 < levels; level++) {
        load(forest, nodes[(level + 1) * stride], column, &next);
        child = next;
        damp(&child, squares[level + 1]);
        step_down(expected, &own, &child, squares[level]);
        own = next;
    }
    step_down(expected, &own, below, squares[levels - 1]);
}

void expect_branch(const Forest *forest, const Branch *branch, size_t crawlers, double *mean, double *variance) {
    static const Messages nothing;
    for (size_t column = 0, from = 0; from < crawlers; column++, from += BLOCK) {
        size_t count = crawlers - from < BLOCK ? crawlers - from : BLOCK;
        Messages first, middle = nothing;
        load(forest, branch->common[0], column, &first);
        damp(&first, branch->common_squares[0]);
        for (size_t tree = 0; tree < branch->tree_count; tree++) {
            Messages expected = nothing;
            descend(forest, branch->trees + tree, branch->tree_count, branch->tree_squares, branch->levels, column,
                    &first, &expected);
            for (size_t k = 0; k < BLOCK; k++) {
                middle.precision[k] += expected.precision[k] / (double)branch->tree_count;
                middle.weight[k] += expected.weight[k] / (double)branch->tree_count;
            }
        }
        descend(forest, branch->common, 1, branch->common_squares, branch->common_count, column, &nothing, &middle);
        memcpy(mean + from, middle.weight, count * sizeof *mean);
        memcpy(variance + from, middle.precision, count * sizeof *variance);
    }
}

/* Add a message to one node; it becomes what changes for the parent. */
static void climb(const Forest *forest, int64_t node, size_t crawler, double square, double *precision, double *weight) {
    Block *block = forest->blocks + forest->index[(size_t)node * forest->columns + crawler / BLOCK];
    size_t at = crawler % BLOCK;
    double old_precision = (double)block->precision[at], old_weight = (double)block->weight[at];
    double new_precision = old_precision + *precision, new_weight = old_weight + *weight;
    block->precision[at] = (float)new_precision;
    block->weight[at] = (float)new_weight;
    double before = 1.0 / (1.0 + old_precision * square), after = 1.0 / (1.0 + new_precision * square);
    *precision = new_precision * after - old_precision * before;
    *weight = new_weight * after - old_weight * before;
}

void learn_branch(const Forest *forest, const Branch *branch, const Message *message) {
    for (size_t k = 0; k < message->count; k++) {
        size_t crawler = (size_t)message->crawlers[k];
        double precision = message->precision[k], weight = message->weight[k];
        for (size_t i = branch->common_count; i-- > 0;)
            climb(forest, branch->common[i], crawler, branch->common_squares[i], &precision, &weight);
        for (size_t tree = 0; tree < branch->tree_count; tree++) {
            double own_precision = precision, own_weight = weight;
            for (size_t level = branch->levels; level-- > 0;)
                climb(forest, branch->trees[level * branch->tree_count + tree], crawler, branch->tree_squares[level],
                      &own_precision, &own_weight);
        }
    }
}
