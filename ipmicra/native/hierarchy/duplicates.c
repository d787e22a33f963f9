/* Choosing among registrations of the same range, and among organisations of the same handle. */

#include "hierarchy.h"

/* Count the fields of a row that say something. */
static int detail_of(const RowTable *rows, size_t row) {
    int count = (rows->country[row] != 0) + (rows->date[row] != 0);
    for (size_t column = 0; column < rows->texts; column++)
        count += rows->lengths[rows->texts * row + column] != 0;
    return count;
}

/* Order two rows by their texts, one after the other: negative, 0 or positive. */
static int compare_texts(const RowTable *rows, Span text, size_t a, size_t b) {
    for (size_t column = 0; column < rows->texts; column++) {
        Span one = text_of(rows, text, a, column), other = text_of(rows, text, b, column);
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
 * Content is compared in the order registry, country, kind of handle, texts; the smaller wins. The input's order
 * decides nothing, so that the same dumps always give the same hierarchy. */
bool is_better(const RowTable *rows, Span text, size_t a, size_t b) {
    int detail = detail_of(rows, a) - detail_of(rows, b);
    if (detail != 0)
        return detail > 0;
    if (rows->date[a] != rows->date[b])
        return rows->date[a] > rows->date[b];
    if (rows->registry[a] != rows->registry[b])
        return rows->registry[a] < rows->registry[b];
    if (rows->country[a] != rows->country[b])
        return rows->country[a] < rows->country[b];
    if (rows->holder[a] != rows->holder[b])
        return rows->holder[a] < rows->holder[b];
    return compare_texts(rows, text, a, b) < 0;
}

/* Keep one row of each run of same ranges; is_same[i] says that row i equals the one before.
 *
 * Writes the winners in order, and (loser, winner) for the others; there is room for as many of both as the flags
 * say. Returns the number of winners, NOT_SOUND if a row does not exist. */
int64_t pick_winners(const RowTable *rows, Span text, const uint32_t *order, const uint8_t *is_same, size_t count,
                     int32_t *winners, int64_t (*losers)[2]) {
    int64_t won = 0;
    size_t lost = 0;
    for (size_t i = 0; i < count; i++)
        if (order[i] >= rows->count)
            return NOT_SOUND;
    for (size_t i = 0, stop; i < count; i = stop) {
        uint32_t best = order[i];
        for (stop = i + 1; stop < count && is_same[stop]; stop++)
            if (is_better(rows, text, order[stop], best))
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
