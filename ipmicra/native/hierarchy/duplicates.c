/* Choosing among registrations of the same range, and among organisations of the same handle. */

#include "hierarchy.h"

/* Order two rows by their texts, one after the other: negative, 0 or positive. */
static int compare_texts(const RowTable *rows, const Texts *texts, size_t a, size_t b) {
    for (size_t kind = 0; kind < rows->kinds; kind++) {
        if (number_of(rows, a, kind) == number_of(rows, b, kind))
            continue;
        Span one = text_of(rows, texts, a, kind), other = text_of(rows, texts, b, kind);
        ptrdiff_t shorter = span_size(one) < span_size(other) ? span_size(one) : span_size(other);
        int order = memcmp(one.at, other.at, (size_t)shorter);
        if (order != 0)
            return order;
        if (span_size(one) != span_size(other))
            return span_size(one) < span_size(other) ? -1 : 1;
    }
    return 0;
}

/* Return whether row a wins over row b: more detail, then newer, then by content alone.
 *
 * Content is compared in the order registry, country, kind of evidence, texts; the smaller wins. Rows that do not
 * differ in any of these make the same hierarchy. So the input's order decides nothing. */
bool is_better(const RowTable *rows, const Texts *texts, size_t a, size_t b) {
    if (rows->detail[a] != rows->detail[b])
        return rows->detail[a] > rows->detail[b];
    if (rows->date[a] != rows->date[b])
        return rows->date[a] > rows->date[b];
    if (rows->registry[a] != rows->registry[b])
        return rows->registry[a] < rows->registry[b];
    if (rows->country[a] != rows->country[b])
        return rows->country[a] < rows->country[b];
    if (rows->holder[a] != rows->holder[b])
        return rows->holder[a] < rows->holder[b];
    return compare_texts(rows, texts, a, b) < 0;
}

/* Keep one row of each run of same ranges; is_same[i] says that row i equals the one before.
 *
 * Writes the winners in order, and (loser, winner) for the others; there is room for as many of both as the flags
 * say. Returns the number of winners, NOT_SOUND if a row does not exist. */
int64_t pick_winners(const RowTable *rows, const Texts *texts, const uint32_t *order, const uint8_t *is_same, size_t count,
                     int32_t *winners, int64_t (*losers)[2]) {
    int64_t won = 0;
    size_t lost = 0;
    for (size_t i = 0; i < count; i++)
        if (order[i] >= rows->count)
            return NOT_SOUND;
    for (size_t i = 0, stop; i < count; i = stop) {
        uint32_t best = order[i];
        for (stop = i + 1; stop < count && is_same[stop]; stop++)
            if (is_better(rows, texts, order[stop], best))
                best = order[stop];
        for (size_t k = i; k < stop; k++)
            if (order[k] != best) {
                losers[lost][0] = order[k];
                losers[lost++][1] = best;
            }
        winners[won++] = (int32_t)best;
    }
    return won;
}
