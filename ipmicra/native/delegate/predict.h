/* The loops of the policy `predict`: what its levels expect, and what is believed of one site. */
#ifndef IPMICRA_PREDICT_H
#define IPMICRA_PREDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Crawlers that are handled, and kept, at a time. */
enum { BLOCK = 16 };

/* What some crawlers' samples said of a node, in all. */
typedef struct {
    float precision[BLOCK];
    float weight[BLOCK];
} Block;

/* Messages of all nodes: the numbers of their blocks, (node, column); 0 is a block of nothing, which is never written. */
typedef struct {
    const int32_t *index;
    Block *blocks;
    size_t nodes;
    size_t columns;
    size_t block_count;
} Forest;

/* The nodes above a subnet: (level, tree) of several trees, then those common to all; and the spreads' squares. */
typedef struct {
    const int64_t *trees;
    const double *tree_squares;
    const int64_t *common;
    const double *common_squares;
    size_t levels;
    size_t tree_count;
    size_t common_count;
} Branch;

/* Write mean and variance of every crawler at the end of a branch. */
void expect_branch(const Forest *forest, const Branch *branch, size_t crawlers, double *mean, double *variance);

/* A message about some crawlers, which climbs a branch. */
typedef struct {
    const int64_t *crawlers;
    const double *precision;
    const double *weight;
    size_t count;
} Message;

/* Every node of the branch must have a block of its own for each of these crawlers. */
void learn_branch(const Forest *forest, const Branch *branch, const Message *message);

/* What is believed of a site's round trips, (place, crawler). */
typedef struct {
    const double *prior;
    const double *floors;
    const double *least;
    const double *scores;     /* logarithms of the places' weights */
    const double *variances;  /* of crawlers; nil where the round trip is known */
    const double *deviations; /* (sample, place) */
    const double *gains;      /* (sample, crawler) */
    size_t places;
    size_t crawlers;
    size_t samples;
    double offset_ms;
    double tail;
} Belief;

/* One round trip; `noise` is nil if it is the site's own. */
typedef struct {
    size_t crawler;
    double rtt_ms;
    double noise;
} Seen;

/* Where the belief after a sample is written to, and how surprising the sample was. */
typedef struct {
    double *scores;
    double *variances;
    double *deviations;
    double *gains;
    double evidence;
    double surprise;
} After;

/* `column` has the covariances of the crawler with all. */
void condition_belief(const Belief *belief, const double *column, Seen seen, After *after);

/* How savings are valued; points and best round trip only where there is one. */
typedef struct {
    double best_ms;
    double fixed_ms;
    double least_weight; /* of places beside the likeliest */
    double widening;     /* of variances */
    double least_variance;
    const double *points; /* quantiles, ascending */
    size_t count;
} Value;

/* Write what a probe by each crawler may save beside the best round trip so far; false without memory. */
bool save_over_known(const Belief *belief, const Value *value, double *saved);

/* Write what each crawler may save beside a holder, of which there is no sample and whose covariances with all are in
 * `column`; false without memory. */
bool save_over_expected(const Belief *belief, const double *column, const Value *value, size_t holder, double *saved);

/* Write the expected logarithm of a crawler's round trip and offset; false without memory. */
bool expect_logarithm(const Belief *belief, size_t crawler, double least_weight, double *found);

#endif
