/* Sharing out sites, pieces of work and vertices. */
#ifndef IPMICRA_BALANCE_H
#define IPMICRA_BALANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What sites bid for, and with what. `cost` has a row per site and a column per crawler. */
typedef struct {
    const float *cost;
    const double *load;
    const double *room;
    double *price;
    size_t sites;
    size_t crawlers;
    double step;
    int64_t most_bids;
} Auction;

int64_t hold_auction(Auction auction, const int64_t *waiting, size_t count, int64_t *taker);

/* What a piece costs on a crawler; see binding.c. */
typedef struct {
    const double *since;
    const int64_t *lives;
    const double *expected_ms;
    const int64_t *site;
    const int64_t *pages;
    const double *slope;
    const double *offset;
    const int64_t *last_crawler;
    size_t life_count;
    size_t crawlers;
    size_t sites;
    size_t pieces;
    double stay;
    double risk;
    double fixed_ms;
    double per_step;
    double per_age;
} Binding;

int64_t best_piece(const Binding *binding, int64_t crawler, const int64_t *waiting, size_t count, double now);
int64_t best_crawler(const Binding *binding, int64_t piece, const int64_t *available, size_t count, double now);

/* A graph as rows of edges: vertex i has the edges starts[i] to starts[i + 1]. */
typedef struct {
    const int64_t *starts;
    const int64_t *ends;
    const double *weights;
} Graph;

typedef struct {
    Graph graphs[2];
    const double *preferences; /* of the two graphs */
    double power;
    int64_t *part;
    double *load;
    const double *limit;
    const double *weight;
    double *cuts; /* of the two graphs */
    size_t vertices;
    size_t parts;
} Moves;

int64_t move_once(Moves moves);

#endif
