/* Conditioning a belief on a round trip, and what a probe is expected to save by it; see
 * `ipmicra/delegate/policies/predict/belief.py`.
 *
 * There may be hundreds of places, and a sample moves the means of all crawlers at each of them. It is kept as its
 * deviation at each place and its gain for each crawler, whose product is added where a mean is asked for: after a
 * sample few places are likely, and most crawlers cannot win there. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict.h"

/* A variance that is left, however many samples there are: nil would say that the round trip is known. */
static const double LEAST = 1e-18;

static double mean_at(const Belief *belief, size_t place, size_t crawler) {
    double mean = belief->prior[place * belief->crawlers + crawler];
    for (size_t s = 0; s < belief->samples; s++)
        mean += belief->deviations[s * belief->places + place] * belief->gains[s * belief->crawlers + crawler];
    return mean;
}

static double highest(const double *values, size_t count) {
    double top = values[0];
    for (size_t i = 1; i < count; i++)
        top = values[i] > top ? values[i] : top;
    return top;
}

/* Weigh the places by a sample; write its deviations and the new scores. */
static void weigh(const Belief *belief, Seen seen, double variance, After *after) {
    double *deviations = after->deviations + belief->samples * belief->places;
    for (size_t place = 0; place < belief->places; place++) {
        double trip_ms = seen.rtt_ms - belief->floors[place * belief->crawlers + seen.crawler];
        double value = log((trip_ms > 0.0 ? trip_ms : 0.0) + belief->offset_ms);
        double deviation = value - mean_at(belief, place, seen.crawler);
        double square = deviation * deviation / variance;
        deviations[place] = deviation;
        after->scores[place] = belief->scores[place] - value - 0.5 * (belief->tail + 1.0) * log1p(square / belief->tail);
    }
    double top = highest(after->scores, belief->places), total = 0.0;
    for (size_t place = 0; place < belief->places; place++)
        total += exp(after->scores[place] - top);
    after->evidence = top + log(total);
    after->surprise = 0.0;
    for (size_t place = 0; place < belief->places; place++) {
        after->scores[place] -= after->evidence;
        after->surprise += exp(after->scores[place]) * deviations[place] * deviations[place] / variance;
    }
}

void condition_belief(const Belief *belief, const double *column, Seen seen, After *after) {
    size_t crawlers = belief->crawlers, places = belief->places, samples = belief->samples;
    double variance = belief->variances[seen.crawler] + seen.noise, *gain = after->gains + samples * crawlers;
    memcpy(after->deviations, belief->deviations, samples * places * sizeof *after->deviations);
    memcpy(after->gains, belief->gains, samples * crawlers * sizeof *after->gains);
    weigh(belief, seen, variance, after);
    for (size_t i = 0; i < crawlers; i++) {
        gain[i] = column[i] / variance;
        double left = belief->variances[i] - gain[i] * column[i];
        after->variances[i] = left > LEAST || belief->variances[i] <= 0.0 ? left : LEAST;
    }
    if (seen.noise <= 0.0)
        after->variances[seen.crawler] = 0.0; /* its own round trip is known now */
}

/* --- what counts of a belief */

/* Write the weights of the places, nil for those that do not count; they add up to 1. */
static void weigh_places(const Belief *belief, double least_weight, double *weights) {
    double total = 0.0, top = highest(belief->scores, belief->places);
    for (size_t place = 0; place < belief->places; place++) {
        double weight = exp(belief->scores[place] - top);
        weights[place] = weight >= least_weight ? weight : 0.0;
        total += weights[place];
    }
    for (size_t place = 0; place < belief->places; place++)
        weights[place] /= total;
}

bool expect_logarithm(const Belief *belief, size_t crawler, double least_weight, double *found) {
    double *weights = malloc(belief->places * sizeof *weights);
    if (weights == NULL)
        return false;
    weigh_places(belief, least_weight, weights);
    *found = 0.0;
    for (size_t place = 0; place < belief->places; place++)
        if (weights[place] > 0.0)
            *found += weights[place] * log(belief->floors[place * belief->crawlers + crawler] +
                                           exp(mean_at(belief, place, crawler)));
    free(weights);
    return true;
}

/* --- savings beside a round trip that was measured */

/* What `save_at` needs beside belief and value. */
typedef struct {
    double *weights;   /* of places */
    double *deviation; /* of crawlers */
    double *factors;   /* (crawler, point): what the exponential of the mean is multiplied by at a point */
    double highest;    /* what the logarithm of a round trip must be below to win, whatever the floor */
    double most;       /* logarithm of the best round trip with its fixed part */
} Scratch;

/* Return the sum over the points of log((best + fixed) / (round trip + fixed)) where that is positive. Points ascend, so
 * the first that cannot win is the last to look at; a sum of logarithms is the logarithm of a product. */
static double sum_of_points(const Value *value, const Scratch *scratch, const double *factors, double middle_ms,
                            double floor_ms, double least_ms) {
    double product = 1.0;
    size_t k = 0;
    for (; k < value->count; k++) {
        double trip_ms = floor_ms + middle_ms * factors[k];
        trip_ms = trip_ms > least_ms ? trip_ms : least_ms;
        if (trip_ms >= value->best_ms)
            break;
        product *= trip_ms + value->fixed_ms;
    }
    return k ? (double)k * scratch->most - log(product) : 0.0;
}

/* Add what each crawler may save if the site is at a place. */
static void save_at(const Belief *belief, const Value *value, const Scratch *scratch, size_t place, double *saved) {
    size_t row = place * belief->crawlers;
    for (size_t crawler = 0; crawler < belief->crawlers; crawler++) {
        double least_ms = belief->least[row + crawler];
        if (least_ms >= value->best_ms)
            continue;
        double mean = mean_at(belief, place, crawler);
        if (mean + scratch->deviation[crawler] * value->points[0] >= scratch->highest)
            continue;
        saved[crawler] += scratch->weights[place] *
                          sum_of_points(value, scratch, scratch->factors + crawler * value->count, exp(mean),
                                        belief->floors[row + crawler] - belief->offset_ms, least_ms);
    }
}

bool save_over_known(const Belief *belief, const Value *value, double *saved) {
    size_t crawlers = belief->crawlers, points = value->count;
    double *room = malloc((belief->places + crawlers + crawlers * points) * sizeof *room);
    if (room == NULL)
        return false;
    Scratch scratch = {room, room + belief->places, room + belief->places + crawlers,
                       log(value->best_ms + belief->offset_ms), log(value->best_ms + value->fixed_ms)};
    weigh_places(belief, value->least_weight, scratch.weights);
    for (size_t i = 0; i < crawlers; i++) {
        double variance = belief->variances[i] * value->widening;
        scratch.deviation[i] = sqrt(variance > value->least_variance ? variance : value->least_variance);
        for (size_t k = 0; k < points; k++)
            scratch.factors[i * points + k] = exp(scratch.deviation[i] * value->points[k]);
        saved[i] = 0.0;
    }
    for (size_t place = 0; place < belief->places; place++)
        if (scratch.weights[place] > 0.0)
            save_at(belief, value, &scratch, place, saved);
    for (size_t i = 0; i < crawlers; i++)
        saved[i] *= value->fixed_ms / (double)points;
    free(room);
    return true;
}

/* --- savings beside the crawler that is expected to be the nearest */

/* Return E[max(margin + z, 0)] for a standard normal z, to within 1e-6: 1 - distance * Mills' ratio is the tail over the
 * density, that ratio by formula 26.2.17 of Abramowitz and Stegun. */
static double loss_of(double margin) {
    double distance = fabs(margin), t = 1.0 / (1.0 + 0.2316419 * distance);
    double ratio = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
    double tail = 1.0 - distance * ratio, density = exp(-0.5 * margin * margin) * 0.3989422804014327;
    return (margin > 0.0 ? margin : 0.0) + density * (tail > 0.0 ? tail : 0.0);
}

bool save_over_expected(const Belief *belief, const double *column, const Value *value, size_t holder, double *saved) {
    size_t crawlers = belief->crawlers;
    double *weights = malloc(belief->places * sizeof *weights);
    if (weights == NULL)
        return false;
    weigh_places(belief, value->least_weight, weights);
    for (size_t i = 0; i < crawlers; i++)
        saved[i] = 0.0;
    double held = belief->variances[holder];
    for (size_t place = 0; place < belief->places; place++) {
        if (weights[place] <= 0.0)
            continue;
        const double *floors = belief->floors + place * crawlers;
        double own_spread = exp(mean_at(belief, place, holder)), own = floors[holder] + own_spread;
        double own_level = log(own), own_share = own_spread / own;
        double worth = weights[place] * own / (own - belief->offset_ms + value->fixed_ms);
        for (size_t i = 0; i < crawlers; i++) {
            double spread = exp(mean_at(belief, place, i)), trip = floors[i] + spread, share = spread / trip;
            double variance = held * own_share * own_share + belief->variances[i] * share * share -
                              2.0 * column[i] * share * own_share;
            double deviation = sqrt(variance > value->least_variance ? variance : value->least_variance);
            saved[i] += worth * deviation * loss_of((own_level - log(trip)) / deviation);
        }
    }
    for (size_t i = 0; i < crawlers; i++)
        saved[i] *= value->fixed_ms;
    free(weights);
    return true;
}
