/* A stable radix sort that also tells the order: least significant digit first, eleven bits at a time. */

#include "../memory.h"
#include "hierarchy.h"

#ifndef DIGIT_BITS /* the fuzzer has few keys */
#define DIGIT_BITS 11
#endif
enum { BUCKETS = 1 << DIGIT_BITS, DIGITS = (64 + DIGIT_BITS - 1) / DIGIT_BITS };

/* Write the key by which each range is sorted, first address and then the widest first, and its row number. */
void range_keys(const uint32_t *first, const uint32_t *last, size_t count, uint64_t *keys, uint32_t *order) {
    for (size_t i = 0; i < count; i++) {
        keys[i] = (uint64_t)first[i] << 32 | (UINT32_MAX - last[i]);
        order[i] = (uint32_t)i;
    }
}

static bool is_sorted(const uint64_t *keys, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (keys[i - 1] > keys[i])
            return false;
    return true;
}

/* Move keys and their row numbers to the places of one digit's values. */
static void scatter(const uint64_t *keys, const uint32_t *order, uint64_t *to_keys, uint32_t *to_order, size_t count,
                    unsigned shift, const size_t counts[BUCKETS]) {
    size_t places[BUCKETS], place = 0;
    for (size_t value = 0; value < BUCKETS; value++) {
        places[value] = place;
        place += counts[value];
    }
    for (size_t i = 0; i < count; i++) {
        size_t to = places[keys[i] >> shift & (BUCKETS - 1)]++;
        to_keys[to] = keys[i];
        to_order[to] = order[i];
    }
}

/* Sort keys, and row numbers by them, in place; return whether there was memory. Digits that are all alike are
 * passed over, and so is a dump that is in order already, as registries publish them. */
bool sort_keys(uint64_t *keys, uint32_t *order, size_t count) {
    if (is_sorted(keys, count))
        return true;
    uint64_t *spare_keys = make_room(count, sizeof *keys), *from = keys, *to = spare_keys;
    uint32_t *spare_order = make_room(count, sizeof *order), *from_order = order, *to_order = spare_order;
    size_t(*counts)[BUCKETS] = calloc(DIGITS, sizeof *counts);
    bool is_done = spare_keys != NULL && spare_order != NULL && counts != NULL;
    for (size_t i = 0; is_done && i < count; i++)
        for (int digit = 0; digit < DIGITS; digit++)
            counts[digit][keys[i] >> (DIGIT_BITS * digit) & (BUCKETS - 1)]++;
    for (int digit = 0; is_done && digit < DIGITS; digit++) {
        unsigned shift = (unsigned)(DIGIT_BITS * digit);
        if (counts[digit][from[0] >> shift & (BUCKETS - 1)] == count)
            continue;
        scatter(from, from_order, to, to_order, count, shift, counts[digit]);
        uint64_t *keys_swap = from;
        from = to, to = keys_swap;
        uint32_t *order_swap = from_order;
        from_order = to_order, to_order = order_swap;
    }
    if (is_done && from != keys) {
        memcpy(keys, from, count * sizeof *keys);
        memcpy(order, from_order, count * sizeof *order);
    }
    free(spare_keys);
    free(spare_order);
    free(counts);
    return is_done;
}
