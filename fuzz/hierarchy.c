/* Fuzzing the nesting: small ranges from the input are sorted, nested and flattened, and what comes out is
 * compared with a scan: a row must hold each address for which it is the narrowest. */

#include <stdlib.h>

#include "../ipmicra/native/hierarchy/hierarchy.h"

enum { MOST_RANGES = 24, SPACE = 256 };

typedef struct {
    uint64_t first[MOST_RANGES];
    uint64_t end[MOST_RANGES];
    size_t count;
} Input;

/* Read distinct ranges, the whole space first, in the order that nesting wants. */
static Input read_input(const uint8_t *data, size_t size) {
    uint64_t keys[MOST_RANGES];
    uint32_t order[MOST_RANGES];
    Input input = {.count = 0};
    size_t count = 0;
    keys[count++] = (uint64_t)0 << 32 | (UINT32_MAX - SPACE);
    for (; size >= 2 && count < MOST_RANGES; data += 2, size -= 2) {
        uint32_t one = data[0], other = one + 1 + data[1];
        keys[count++] = (uint64_t)one << 32 | (UINT32_MAX - (other < SPACE ? other : SPACE));
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
        input.first[input.count] = keys[i] >> 32;
        input.end[input.count++] = UINT32_MAX - (uint32_t)keys[i];
    }
    return input;
}

/* Return the narrowest range that holds an address; of two as wide the one that starts later. */
static size_t narrowest(const Input *input, uint64_t address) {
    size_t best = 0;
    for (size_t i = 1; i < input->count; i++) {
        if (address < input->first[i] || address >= input->end[i])
            continue;
        uint64_t width = input->end[i] - input->first[i], least = input->end[best] - input->first[best];
        if (width < least || (width == least && input->first[i] > input->first[best]))
            best = i;
    }
    return best;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { ROOM = MOST_RANGES * MOST_RANGES * 2 };
    Input input = read_input(data, size);
    static uint32_t source[ROOM], parent[ROOM]; /* not on the stack, which sanitizers paint each time */
    static uint64_t first[ROOM], end[ROOM], segments[2 * ROOM + 1], index[256];
    static int64_t cuts[ROOM][2];
    Nested nested = {source, first, end, parent, ROOM, cuts, ROOM, 0};
    int64_t rows = nest_ranges((Ranges){input.first, input.end, NULL, input.count}, &nested);
    if (rows < 1 || deepest_of(parent, (size_t)rows) < 0)
        abort();
    int64_t pieces = flatten_tree(first, end, parent, (size_t)rows, segments, 2 * (size_t)rows + 1);
    if (pieces < 1)
        abort();
    index_segments(segments, (size_t)pieces, 24, index, 256);
    for (int64_t at = 0; at < pieces; at++) { /* the first and the last address of each segment */
        uint64_t start = segments[at] >> 32, stop = at + 1 < pieces ? segments[at + 1] >> 32 : SPACE;
        uint32_t found = source[(uint32_t)segments[at]];
        if (start >= stop || found != narrowest(&input, start) || found != narrowest(&input, stop - 1))
            abort();
    }
    return 0;
}
