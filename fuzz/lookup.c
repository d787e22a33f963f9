/* Fuzzing look-ups: the input is sections of a hierarchy file, sound or not, and the text of an address.
 *
 * Whatever the sections say, a look-up returns a row that exists or says what is wrong, and the tables give the
 * same row as the sections wherever they can be made. */

#include <stdlib.h>

#include "../ipmicra/native/hierarchy/lookup.h"

enum { ROWS4 = 8, MOST6 = 24, MOST_SEGMENTS = 24 };

static uint64_t take(const uint8_t **data, size_t *size, size_t bytes) {
    uint64_t value = 0;
    for (; bytes > 0 && *size > 0; bytes--, (*size)--)
        value = value << 8 | *(*data)++;
    return value;
}

/* Spread a byte over a word, so that few bytes make bounds that are near each other and far apart. */
static uint64_t word_of(uint64_t byte) { return byte << 56 | (byte & 3) << 32 | (byte & 1); }

static void check(const Lookup *plain, Lookup *indexed, Wide address) {
    uint32_t row = 0, other = 0;
    Soundness soundness = row_of_wide(plain, address, &row);
    if (soundness == SOUND && row >= plain->rows4 + plain->rows6)
        abort();
    if (indexed->wide.levels == 0 || indexed->table4 == NULL)
        return;
    rows_of_wide(indexed, &address, 1, &other, PLAIN);
    for (int by = BEST; by <= AVX512; by++) {
        rows_of_wide(indexed, &address, 1, &row, (Instructions)by);
        if (row != other)
            abort();
    }
    if (other >= plain->rows4 + plain->rows6)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint64_t index[4], segments[MOST_SEGMENTS], bounds[MOST6][4];
    uint32_t parent[MOST6];
    Lookup lookup = {.index = index, .index_size = 4, .segments = segments, .bounds6 = (const uint64_t(*)[4])bounds,
                     .parent6 = parent, .rows4 = ROWS4};
    if (size < 8)
        return 0;
    size_t rows6 = 1 + take(&data, &size, 1) % (MOST6 - 1), count = 1 + take(&data, &size, 1) % (MOST_SEGMENTS - 1);
    lookup.rows6 = rows6;
    lookup.segment_count = count;
    for (int i = 0; i < 4; i++)
        index[i] = take(&data, &size, 1) << 32 | take(&data, &size, 1);
    for (size_t i = 0; i < count; i++)
        segments[i] = (i == 0 ? 0 : take(&data, &size, 1)) << 56 | (uint64_t)i << 32 | take(&data, &size, 1) % 9;
    for (size_t i = 0; i < rows6; i++) {
        bounds[i][0] = i == 0 ? 0 : word_of(take(&data, &size, 1));
        bounds[i][1] = i == 0 ? 0 : take(&data, &size, 1) & 3;
        bounds[i][2] = i == 0 ? UINT64_MAX : word_of(take(&data, &size, 1));
        bounds[i][3] = i == 0 ? UINT64_MAX : take(&data, &size, 1) & 7;
        parent[i] = (uint32_t)(ROWS4 + take(&data, &size, 1) % (rows6 + 1));
    }
    Lookup indexed = lookup;
    make_table4(&indexed);
    make_wide_index(&indexed);
    for (uint64_t i = 0; i < 256; i += 5)
        check(&lookup, &indexed, (Wide){word_of(i), i & 7});
    Wide address;
    uint8_t *text = malloc(size ? size : 1);
    if (text != NULL) {
        memcpy(text, data, size);
        if (read_address(span_of(text, text + size), &address))
            check(&lookup, &indexed, address);
    }
    free(text);
    free_lookup(&indexed);
    return 0;
}
