/* Looking up IPv6 addresses by an index.
 *
 * Theory of operation
 * -------------------
 * The tree is flattened into segments, and every sixteenth start is put into an array of its own, every sixteenth of
 * those into another, and so on: a search compares an address with sixteen starts of each array, from the shortest to
 * the longest. That is five or six times for any hierarchy there is, nothing in it depends on the address but the
 * place where the next sixteen are, and only the last sixteen and the row are not in the cache. Bits of the address as
 * an index, which serve IPv4 so well, do not: registries use a few narrow stretches of the space and crowd in them, so
 * that a table is nearly empty, and finer tables inside of tables cost more waits for memory than they save.
 *
 * Nearly all subnets are /64s or wider, so the upper halves of addresses decide. Only where a start has a lower half
 * (FINE) are both compared.
 *
 * Sixteen comparisons of 64 bits are sixteen instructions and more on any x86-64, and two with AVX-512. So the same
 * function is compiled for newer processors as well, and the one it runs on decides. */

#include "../memory.h"
#include "lookup.h"

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#endif

static const uint32_t FINE = (uint32_t)1 << 31;

static inline Wide behind(Wide address) { return (Wide){address.high + (address.low == UINT64_MAX), address.low + 1}; }

static inline Wide start_of(const WideIndex *wide, size_t i) { return (Wide){wide->highs[0][i], wide->lows[i]}; }

/* Append a segment, in place of one that starts at the same address; return whether starts still ascend. */
static bool add_wide(WideIndex *wide, Wide start, size_t row) {
    if (wide->count > 0) {
        Wide last = start_of(wide, wide->count - 1);
        if (last.high == start.high && last.low == start.low)
            wide->count--;
        else if (!is_at_most(last, start))
            return false;
    }
    wide->highs[0][wide->count] = start.high;
    wide->lows[wide->count] = start.low;
    wide->rows[wide->count++] = (uint32_t)row;
    return true;
}

/* Flatten the tree as nest.c does for IPv4; the end of the space needs no segment. */
static Soundness flatten_wide(const Lookup *lookup, WideIndex *wide) {
    size_t top = 0;
    for (size_t i = 0; i < lookup->rows6; i++) {
        Wide start = first_of(lookup, i);
        if (i == 0 && (start.high | start.low) != 0)
            return BAD_PARENTS;
        while (top != 0 && !is_at_most(start, last_of(lookup, top))) {
            Wide stop = behind(last_of(lookup, top));
            uint32_t above = lookup->parent6[top];
            if (above < lookup->rows4 || above - lookup->rows4 >= top)
                return BAD_PARENTS;
            top = above - lookup->rows4;
            if (!(stop.high == start.high && stop.low == start.low) && !add_wide(wide, stop, top))
                return BAD_PARENTS;
        }
        if (!add_wide(wide, start, i))
            return BAD_PARENTS;
        top = i;
    }
    while (top != 0) {
        Wide stop = behind(last_of(lookup, top));
        uint32_t above = lookup->parent6[top];
        if (above < lookup->rows4 || above - lookup->rows4 >= top)
            return BAD_PARENTS;
        top = above - lookup->rows4;
        if ((stop.high | stop.low) != 0 && !add_wide(wide, stop, top))
            return BAD_PARENTS;
    }
    return SOUND;
}

/* Return how many keys a level has room for: whole groups. */
static size_t room_of(size_t keys) { return (keys + FAN - 1) / FAN * FAN; }

/* Fill the last group of a level with keys that no address but the last is larger than. */
static void fill_level(WideIndex *wide, int level) {
    for (size_t i = wide->sizes[level]; i < room_of(wide->sizes[level]); i++)
        wide->highs[level][i] = UINT64_MAX;
}

/* Put every sixteenth key of each level into the next; return whether there was memory. */
static bool add_levels(WideIndex *wide) {
    wide->sizes[0] = wide->count;
    fill_level(wide, 0);
    for (wide->levels = 1; wide->sizes[wide->levels - 1] > FAN; wide->levels++) {
        int level = wide->levels;
        const uint64_t *below = wide->highs[level - 1];
        wide->sizes[level] = room_of(wide->sizes[level - 1]) / FAN;
        wide->highs[level] = make_room(room_of(wide->sizes[level]), sizeof **wide->highs);
        if (wide->highs[level] == NULL)
            return false;
        for (size_t i = 0; i < wide->sizes[level]; i++)
            wide->highs[level][i] = below[i * FAN];
        fill_level(wide, level);
    }
    return true;
}

void free_wide(WideIndex *wide) {
    for (int level = 0; level < MOST_LEVELS; level++)
        free(wide->highs[level]);
    free(wide->lows);
    free(wide->rows);
    memset(wide, 0, sizeof *wide);
}

Soundness make_wide_index(Lookup *lookup) {
    WideIndex wide = {.levels = 0};
    size_t room = room_of(2 * lookup->rows6 + 2);
    if (lookup->rows6 >= (size_t)1 << 30 || lookup->rows4 + lookup->rows6 >= FINE)
        return NO_MEMORY; /* rows must leave the bit that marks fine starts, and keys fit the levels */
    wide.highs[0] = make_room(room, sizeof **wide.highs);
    wide.lows = make_room(room, sizeof *wide.lows);
    wide.rows = make_room(room, sizeof *wide.rows);
    bool has_room = wide.highs[0] != NULL && wide.lows != NULL && wide.rows != NULL;
    Soundness soundness = has_room ? flatten_wide(lookup, &wide) : NO_MEMORY;
    if (soundness == SOUND && !add_levels(&wide))
        soundness = NO_MEMORY;
    if (soundness == SOUND) {
        for (size_t i = 0; i < wide.count; i++)
            wide.rows[i] = (wide.rows[i] + (uint32_t)lookup->rows4) | (wide.lows[i] ? FINE : 0);
        lookup->wide = wide;
    } else {
        free_wide(&wide);
    }
    return soundness;
}

/* Count the keys of a group that are at most `high`. */
static inline size_t count_plainly(const uint64_t keys[FAN], uint64_t high) {
    size_t count = 0;
    for (size_t i = 0; i < FAN; i++)
        count += keys[i] <= high;
    return count;
}

/* Return the last key of a group that is at most `high`, given how many are; the first one always is.
 *
 * The keys that fill the last group up are larger than any address but those that end in ones: for these the last
 * real key is the answer. */
static inline size_t last_of_group(const WideIndex *wide, int level, size_t group, size_t count) {
    size_t at = group * FAN + count - 1, last = wide->sizes[level] - 1;
    return at < last ? at : last;
}

static inline size_t step_down(const WideIndex *wide, int level, size_t group, uint64_t high) {
    return last_of_group(wide, level, group, count_plainly(wide->highs[level] + group * FAN, high));
}

/* Return the row of the segment whose start has the last upper half that is not above an address's. */
static inline uint32_t row_from(const WideIndex *wide, size_t at, Wide address) {
    uint32_t row = wide->rows[at];
    if (!(row & FINE))
        return row;
    size_t low = 0, high = at;
    while (low < high) {
        size_t middle = (low + high + 1) >> 1;
        if (is_at_most(start_of(wide, middle), address))
            low = middle;
        else
            high = middle - 1;
    }
    return wide->rows[low] & ~FINE;
}

uint32_t row_in_index(const WideIndex *wide, Wide address) {
    size_t at = 0;
    for (int level = wide->levels - 1; level > 0; level--)
        at = step_down(wide, level, at, address.high);
    __builtin_prefetch(&wide->rows[at * FAN]);
    return row_from(wide, step_down(wide, 0, at, address.high), address);
}

/* Define a function that looks up a batch level by level: memory for all addresses is asked for before the first is
 * needed. `count` counts the keys of a group, by instructions that the attribute allows. */
#define SEARCH(name, attribute, count) \
    attribute static void name(const WideIndex *wide, const Wide *addresses, size_t size, uint32_t *rows) { \
        size_t places[LOOK_UPS] = {0}; \
        for (int level = wide->levels - 1; level >= 0; level--) \
            for (size_t i = 0; i < size; i++) { \
                const uint64_t *keys = wide->highs[level] + places[i] * FAN; \
                places[i] = last_of_group(wide, level, places[i], count(keys, addresses[i].high)); \
                if (level == 0) \
                    continue; \
                __builtin_prefetch(&wide->highs[level - 1][places[i] * FAN]); \
                __builtin_prefetch(&wide->highs[level - 1][places[i] * FAN + FAN / 2]); \
                if (level == 1) \
                    __builtin_prefetch(&wide->rows[places[i] * FAN]); \
            } \
        for (size_t i = 0; i < size; i++) \
            rows[i] = row_from(wide, places[i], addresses[i]); \
    }

SEARCH(search_plainly, , count_plainly)

#if defined(__GNUC__) && defined(__x86_64__)
#define BY_AVX2 __attribute__((target("avx2")))
#define BY_AVX512 __attribute__((target("avx512f")))

/* There are comparisons of signed numbers only: turning the top bit over makes one of the other. */
BY_AVX2 static inline size_t count_by_avx2(const uint64_t keys[FAN], uint64_t high) {
    const __m256i top = _mm256_set1_epi64x(INT64_MIN);
    __m256i wanted = _mm256_xor_si256(_mm256_set1_epi64x((int64_t)high), top);
    __m256i above = _mm256_setzero_si256(); /* -1 for each key that is */
    for (size_t i = 0; i < FAN; i += 4) {
        __m256i four = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)(keys + i)), top);
        above = _mm256_add_epi64(above, _mm256_cmpgt_epi64(four, wanted));
    }
    uint64_t counts[4];
    _mm256_storeu_si256((__m256i *)(void *)counts, above);
    return FAN + (size_t)(counts[0] + counts[1] + counts[2] + counts[3]);
}

BY_AVX512 static inline size_t count_by_avx512(const uint64_t keys[FAN], uint64_t high) {
    __m512i wanted = _mm512_set1_epi64((int64_t)high);
    unsigned first = _mm512_cmple_epu64_mask(_mm512_loadu_si512(keys), wanted);
    unsigned second = _mm512_cmple_epu64_mask(_mm512_loadu_si512(keys + FAN / 2), wanted);
    return (size_t)__builtin_ctz(~(first | second << 8)); /* keys ascend */
}

SEARCH(search_by_avx2, BY_AVX2, count_by_avx2)
SEARCH(search_by_avx512, BY_AVX512, count_by_avx512)
#endif

void rows_in_index(const WideIndex *wide, const Wide *addresses, size_t count, uint32_t *rows, Instructions by) {
#if defined(__GNUC__) && defined(__x86_64__)
    if ((by == BEST || by == AVX512) && __builtin_cpu_supports("avx512f")) {
        search_by_avx512(wide, addresses, count, rows);
        return;
    }
    if ((by == BEST || by == AVX2) && __builtin_cpu_supports("avx2")) {
        search_by_avx2(wide, addresses, count, rows);
        return;
    }
#endif
    (void)by;
    search_plainly(wide, addresses, count, rows);
}
