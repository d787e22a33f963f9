/* Replacing the bounds of IPv6 ranges by their ranks, so that they fit the 32 bits in which ranges are nested.
 *
 * Theory of operation
 * -------------------
 * Ranges come sorted by start, so only the places behind their ends have to be sorted; then both lists are merged, and
 * a place gets the next rank when it is new. The place behind the end of the space does not fit 128 bits: it wraps to
 * 0, which is behind no other end, and is ranked last. */

#include "../memory.h"
#include "../parse/values.h"
#include "hierarchy.h"

/* Sorted places behind the ends of ranges. */
typedef struct {
    uint64_t *high;
    uint64_t *low;
    uint32_t *order; /* the range that each belongs to */
} Ends;

/* Return the place behind a range; 0 stands for the end of the space. */
static inline Wide behind(const uint64_t range[4]) {
    return (Wide){range[2] + (range[3] == UINT64_MAX), range[3] + 1};
}

static inline bool is_over(const uint64_t range[4]) { return (range[2] & range[3]) == UINT64_MAX; }

static inline bool is_before(Wide one, Wide other) {
    return one.high < other.high || (one.high == other.high && one.low < other.low);
}

/* Sort the places behind ranges that end inside of the space; return whether there was memory. */
static bool sort_ends(const uint64_t (*ranges)[4], size_t count, Ends *ends, size_t *inside) {
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        if (!is_over(ranges[i])) {
            ends->low[size] = behind(ranges[i]).low;
            ends->order[size++] = (uint32_t)i;
        }
    *inside = size;
    if (!sort_keys(ends->low, ends->order, size)) /* nearly all are 0 */
        return false;
    for (size_t i = 0; i < size; i++)
        ends->high[i] = behind(ranges[ends->order[i]]).high;
    if (!sort_keys(ends->high, ends->order, size))
        return false;
    for (size_t i = 0; i < size; i++)
        ends->low[i] = behind(ranges[ends->order[i]]).low;
    return true;
}

/* Merge starts and ends: write the rank of each and the value of each rank; return how many ranks there are. */
static size_t merge(const uint64_t (*ranges)[4], size_t count, const Ends *ends, size_t inside, uint32_t *starts,
                    uint32_t *stops, uint64_t (*values)[2]) {
    size_t ranks = 0, at = 0, end = 0;
    Wide last = {0, 0};
    while (at < count || end < inside) {
        Wide start = at < count ? (Wide){ranges[at][0], ranges[at][1]} : last;
        Wide stop = end < inside ? (Wide){ends->high[end], ends->low[end]} : last;
        bool is_start = end == inside || (at < count && !is_before(stop, start));
        Wide value = is_start ? start : stop;
        if (ranks == 0 || value.high != last.high || value.low != last.low) {
            values[ranks][0] = value.high;
            values[ranks++][1] = value.low;
            last = value;
        }
        if (is_start)
            starts[at++] = (uint32_t)ranks - 1;
        else
            stops[ends->order[end++]] = (uint32_t)ranks - 1;
    }
    return ranks;
}

/* Write the key by which each range is nested, in ranks, and the value of each rank; return how many ranks there are.
 *
 * Ranges are sorted by start; `values` has room for two per range and one more, the end of the space, which is 0. */
int64_t rank_ranges(const uint64_t (*ranges)[4], size_t count, uint64_t *keys, uint64_t (*values)[2]) {
    Ends ends = {make_room(count + 1, 8), make_room(count + 1, 8), make_room(count + 1, 4)};
    uint32_t *starts = make_room(count + 1, 4), *stops = make_room(count + 1, 4);
    size_t inside = 0, ranks = 0;
    bool is_done = ends.high != NULL && ends.low != NULL && ends.order != NULL && starts != NULL && stops != NULL &&
                   sort_ends(ranges, count, &ends, &inside);
    if (is_done) {
        ranks = merge(ranges, count, &ends, inside, starts, stops, values);
        values[ranks][0] = values[ranks][1] = 0;
        for (size_t i = 0; i < count; i++) {
            uint32_t stop = is_over(ranges[i]) ? (uint32_t)ranks : stops[i];
            keys[i] = (uint64_t)starts[i] << 32 | (UINT32_MAX - (stop - 1));
        }
    }
    free(ends.high);
    free(ends.low);
    free(ends.order);
    free(starts);
    free(stops);
    return is_done ? (int64_t)ranks + 1 : OUT_OF_MEMORY;
}
