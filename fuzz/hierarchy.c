/* Fuzzing the nesting: small ranges from the input are sorted, nested and flattened, and what comes out is
 * compared with a scan: a row must hold each address for which it is the narrowest. */

#include <stdlib.h>

#include "../ipmicra/native/hierarchy/hierarchy.h"

enum { MOST_RANGES = 24, SPACE = 256, BUCKETS = 16 };

#define UNSEEN __attribute__((no_sanitize("coverage"))) /* counting its branches took half of the time */

typedef struct {
    uint64_t keys[MOST_RANGES];
    uint32_t first[MOST_RANGES];
    uint32_t last[MOST_RANGES];
    size_t count;
} Input;

/* Read distinct ranges, the whole space first, in the order that nesting wants. */
UNSEEN static Input read_input(const uint8_t *data, size_t size) {
    uint64_t keys[MOST_RANGES];
    uint32_t order[MOST_RANGES];
    Input input = {.count = 0};
    size_t count = 0;
    keys[count++] = (uint64_t)0 << 32 | (UINT32_MAX - (SPACE - 1));
    for (; size >= 2 && count < MOST_RANGES; data += 2, size -= 2) {
        uint32_t one = data[0], last = one + data[1];
        keys[count++] = (uint64_t)one << 32 | (UINT32_MAX - (last < SPACE ? last : SPACE - 1));
    }
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    if (size == 0 && !sort_keys(keys, order, count)) /* an odd byte left: by insertion, which is faster here */
        abort();
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && keys[k - 1] > keys[k]; k--) {
            if (size == 0)
                abort();
            uint64_t swapped = keys[k];
            keys[k] = keys[k - 1];
            keys[k - 1] = swapped;
        }
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && keys[i] == keys[i - 1])
            continue;
        input.keys[input.count] = keys[i];
        input.first[input.count] = (uint32_t)(keys[i] >> 32);
        input.last[input.count++] = UINT32_MAX - (uint32_t)keys[i];
    }
    return input;
}

/* Return whether a bucket of the index says where the segments of its addresses are. */
UNSEEN static bool is_indexed(uint64_t entry, const uint64_t *segments, uint64_t first, uint64_t last, size_t pieces) {
    size_t begin = 0, stop;
    while (begin + 1 < pieces && segments[begin + 1] >> 32 <= first)
        begin++;
    for (stop = begin; stop + 1 < pieces && segments[stop + 1] >> 32 <= last; stop++)
        ;
    return entry == (stop == begin ? (uint32_t)segments[begin] : (uint64_t)(stop - begin) << 32 | begin);
}

/* Return the narrowest range that holds an address; of two as wide the one that starts later. */
UNSEEN static size_t narrowest(const Input *input, uint64_t address) {
    size_t best = 0;
    for (size_t i = 1; i < input->count; i++) {
        if (address < input->first[i] || address > input->last[i])
            continue;
        uint32_t width = input->last[i] - input->first[i], least = input->last[best] - input->first[best];
        if (width < least || (width == least && input->first[i] > input->first[best]))
            best = i;
    }
    return best;
}

UNSEEN int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { ROOM = MOST_RANGES * MOST_RANGES * 2 };
    Input input = read_input(data, size);
    static uint32_t source[ROOM], bounds[ROOM][2], parent[ROOM], depths[ROOM]; /* sanitizers would paint the stack */
    static uint64_t segments[2 * ROOM + 1], index[BUCKETS];
    static int64_t cuts[ROOM][2];
    Nested nested = {source, bounds, parent, ROOM, cuts, ROOM, 0, 0};
    int64_t rows = nest_ranges((Ranges){input.keys, NULL, input.count}, &nested);
    uint32_t deepest = 0;
    if (rows < 1)
        abort();
    for (int64_t i = 1; i < rows; i++) {
        if (parent[i] >= i || bounds[i][0] < bounds[parent[i]][0] || bounds[i][1] > bounds[parent[i]][1])
            abort();
        depths[i] = depths[parent[i]] + 1;
        deepest = depths[i] > deepest ? depths[i] : deepest;
    }
    if (deepest != nested.deepest)
        abort();
    int64_t pieces = flatten_tree((const uint32_t(*)[2])bounds, parent, (size_t)rows, segments, 2 * (size_t)rows + 1);
    if (pieces < 1)
        abort();
    index_segments(segments, (size_t)pieces, 4, index, BUCKETS);
    for (uint64_t i = 0; i < BUCKETS; i++)
        if (!is_indexed(index[i], segments, i * BUCKETS, i * BUCKETS + 15, (size_t)pieces))
            abort();
    for (int64_t at = 0; at < pieces; at++) { /* the first and the last address of each segment */
        uint64_t start = segments[at] >> 32, stop = at + 1 < pieces ? segments[at + 1] >> 32 : SPACE;
        uint32_t found = source[(uint32_t)segments[at]];
        if (start >= stop || found != narrowest(&input, start) || found != narrowest(&input, stop - 1))
            abort();
    }
    return 0;
}
