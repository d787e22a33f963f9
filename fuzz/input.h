/* What targets take from their input; behind its end there are zeros. */
#ifndef IPMICRA_FUZZ_INPUT_H
#define IPMICRA_FUZZ_INPUT_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const uint8_t *data;
    size_t size;
} Input;

static inline uint64_t take(Input *input, size_t bytes) {
    uint64_t value = 0;
    for (; bytes > 0 && input->size > 0; bytes--, input->size--)
        value = value << 8 | *input->data++;
    return value;
}

/* Return a block of exactly this size, so that a read or write behind it is seen; filled from the input. */
static inline void *take_block(Input *input, size_t size) {
    uint8_t *block = calloc(size ? size : 1, 1);
    size_t known = size < input->size ? size : input->size;
    if (block == NULL)
        abort();
    if (known > 0) {
        memcpy(block, input->data, known);
        input->data += known;
        input->size -= known;
    }
    return block;
}

enum { MOST_KEPT = 64 };

/* Blocks that live as long as an input. */
typedef struct {
    void *blocks[MOST_KEPT];
    size_t used;
} Kept;

static inline void *keep_block(Kept *kept, void *block) {
    if (kept->used == MOST_KEPT)
        abort();
    return kept->blocks[kept->used++] = block;
}

static inline void free_kept(Kept *kept) {
    while (kept->used > 0)
        free(kept->blocks[--kept->used]);
}

#endif
