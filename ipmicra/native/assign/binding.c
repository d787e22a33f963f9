/* The best of many waiting pieces, or of many free crawlers.
 *
 * What a piece costs on a crawler, in milliseconds per page, is a straight line of the round trip,
 * slope · rtt + offset (nearness, less what its length is worth), less `stay` where it was crawled before, plus the
 * risk that the work is lost. `lives` counts the ended lives up to each of many equal steps of age. */

#include <math.h>

#include "balance.h"

/* Return how many lives ended up to an age. */
static double ended_by(const Binding *binding, double age) {
    double step = age * binding->per_age, last = (double)(binding->life_count - 1);
    size_t i = step >= last ? binding->life_count - 1 : step > 0 ? (size_t)step : 0;
    return (double)binding->lives[i];
}

/* Return the cost of the work that is expected to be lost if a crawler of some age starts a piece of `steps`. */
static double risk_of(const Binding *binding, double steps, double age) {
    if (binding->life_count == 0)
        return 0.0;
    double shorter = ended_by(binding, age), ended = ended_by(binding, age + steps) - shorter;
    double all = (double)binding->lives[binding->life_count - 1];
    return binding->risk * ended / (all - shorter + 1.0) * steps / 2.0;
}

/* Return what a piece costs on a crawler if that is less than a limit; else the limit or more. */
static inline double cost_of(const Binding *binding, int64_t piece, int64_t crawler, double age, double limit) {
    double near_ms = binding->expected_ms[(size_t)crawler * binding->sites + (size_t)binding->site[piece]];
    double total = binding->slope[piece] * near_ms + binding->offset[piece];
    if (binding->last_crawler[piece] == crawler)
        total -= binding->stay;
    if (total < limit) {
        double steps = (near_ms + binding->fixed_ms) * (double)binding->pages[piece] * binding->per_step;
        total += risk_of(binding, steps, age);
    }
    return total;
}

static inline bool is_known(const Binding *binding, int64_t piece) {
    return piece >= 0 && (size_t)piece < binding->pieces && binding->site[piece] >= 0 &&
           (size_t)binding->site[piece] < binding->sites;
}

/* Return the waiting piece that costs least on a crawler; -1 if none waits. */
int64_t best_piece(const Binding *binding, int64_t crawler, const int64_t *waiting, size_t count, double now) {
    double least = INFINITY, age = now - binding->since[crawler];
    int64_t best = -1;
    for (size_t i = 0; i < count; i++) {
        if (!is_known(binding, waiting[i]))
            continue;
        double cost = cost_of(binding, waiting[i], crawler, age, least);
        if (cost < least) {
            best = waiting[i];
            least = cost;
        }
    }
    return best;
}

/* Return the free crawler on which a piece costs least; -1 if none is free. */
int64_t best_crawler(const Binding *binding, int64_t piece, const int64_t *available, size_t count, double now) {
    double least = INFINITY;
    int64_t best = -1;
    if (!is_known(binding, piece))
        return -1;
    for (size_t i = 0; i < count; i++) {
        int64_t crawler = available[i];
        if (crawler < 0 || (size_t)crawler >= binding->crawlers)
            continue;
        double cost = cost_of(binding, piece, crawler, now - binding->since[crawler], least);
        if (cost < least) {
            best = crawler;
            least = cost;
        }
    }
    return best;
}
