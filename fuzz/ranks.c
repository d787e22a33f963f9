/* Fuzzing ranks: small IPv6 ranges from the input become keys of ranks.
 *
 * Ranks keep the order of the bounds that they stand for, and give them back. Ranges that are not sorted, which only a
 * mistake of ours could bring, harm nothing. */

#include "../ipmicra/native/hierarchy/hierarchy.h"
#include "input.h"

enum { MOST_RANGES = 12 };

/* Few values that lie beside each other and at the ends of words, so that many bounds are equal or touch. */
static uint64_t take_word(Input *input) {
    uint64_t byte = take(input, 1);
    return byte < 128 ? byte & 7 : UINT64_MAX - (byte & 7);
}

static int compare(const uint64_t one[2], const uint64_t other[2]) {
    for (int i = 0; i < 2; i++)
        if (one[i] != other[i])
            return one[i] < other[i] ? -1 : 1;
    return 0;
}

/* Put ranges into the order of their starts, as the caller of `rank_ranges` has them; the widest need not come first. */
static void sort_ranges(uint64_t (*ranges)[4], size_t count) {
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && compare(ranges[k], ranges[k - 1]) < 0; k--)
            for (int word = 0; word < 4; word++) {
                uint64_t swapped = ranges[k][word];
                ranges[k][word] = ranges[k - 1][word];
                ranges[k - 1][word] = swapped;
            }
}

static void check_ranks(const uint64_t (*ranges)[4], size_t count, const uint64_t *keys, const uint64_t (*values)[2],
                        size_t ranks) {
    if (ranks < 1 || values[ranks - 1][0] != 0 || values[ranks - 1][1] != 0)
        abort();
    for (size_t i = 1; i + 1 < ranks; i++)
        if (compare(values[i - 1], values[i]) >= 0)
            abort();
    for (size_t i = 0; i < count; i++) {
        uint64_t first = keys[i] >> 32, behind = (uint64_t)(UINT32_MAX - (uint32_t)keys[i]) + 1;
        uint64_t stop[2] = {ranges[i][2] + (ranges[i][3] == UINT64_MAX), ranges[i][3] + 1};
        if (first >= behind || behind >= ranks || compare(values[first], ranges[i]) != 0 ||
            compare(values[behind], stop) != 0)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Input input = {data, size};
    size_t shape = take(&input, 1), count = shape % (MOST_RANGES + 1);
    bool is_sound = shape < 128;
    uint64_t(*ranges)[4] = take_block(&(Input){NULL, 0}, count * sizeof *ranges);
    uint64_t *keys = take_block(&(Input){NULL, 0}, count * sizeof *keys);
    uint64_t(*values)[2] = take_block(&(Input){NULL, 0}, (2 * count + 1) * sizeof *values);
    for (size_t i = 0; i < count; i++) {
        for (int word = 0; word < 4; word++)
            ranges[i][word] = take_word(&input);
        if (is_sound && compare(ranges[i], ranges[i] + 2) > 0)
            memcpy(ranges[i] + 2, ranges[i], 2 * sizeof **ranges);
    }
    if (is_sound)
        sort_ranges(ranges, count);
    int64_t ranks = rank_ranges((const uint64_t(*)[4])ranges, count, keys, values);
    if (ranks < 1 || (size_t)ranks > 2 * count + 1)
        abort();
    if (is_sound)
        check_ranks((const uint64_t(*)[4])ranges, count, keys, (const uint64_t(*)[2])values, (size_t)ranks);
    free(ranges);
    free(keys);
    free(values);
    return 0;
}
