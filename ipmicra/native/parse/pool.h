/* Texts that are each kept once, under a number; and the growing columns of which a pool is made. */
#ifndef IPMICRA_POOL_H
#define IPMICRA_POOL_H

#include "bytes.h"

/* A column of numbers that grows in place. */
typedef struct {
    uint8_t *data;
    size_t size;     /* bytes in use */
    size_t capacity; /* bytes */
} Column;

bool reserve_column(Column *column, size_t bytes);

/* A hash table: a slot is hash << 32 | number, 0 for a free one. */
typedef struct {
    uint64_t *slots;
    size_t size; /* a power of two, or 0 before the first text */
} Slots;

/* Texts behind each other: number n is text[ends[n - 1] .. ends[n]]. 0 is the empty text, which is always there.
 *
 * Two texts count as the same only if their bytes are: a hash alone would merge strangers sooner or later. */
typedef struct {
    Column text;
    Column ends;    /* uint64; the first is 0 */
    Slots table;
    uint32_t count; /* the largest number */
} Pool;

uint32_t hash_span(Span span);
void free_pool(Pool *pool);
int64_t known_text(const Pool *pool, Span text, uint32_t hash);
int64_t add_text_to_pool(Pool *pool, Span text, uint32_t hash);

/* A text to be found or added, and where its number goes. */
typedef struct {
    Span text;
    uint32_t *number;
    uint32_t hash;
} Wanted;

enum { BATCH = 64 };
bool intern_texts(Pool *pool, Wanted *wanted, size_t count);

/* Return a text by its number. */
static inline Span pool_text(const Pool *pool, uint32_t number) {
    const uint64_t *ends = (const uint64_t *)(const void *)pool->ends.data;
    if (number == 0)
        return NO_SPAN;
    return span_of(pool->text.data + ends[number - 1], pool->text.data + ends[number]);
}

static inline bool same_bytes(Span one, Span other) {
    return span_size(one) == span_size(other) &&
           (is_empty(one) || memcmp(one.at, other.at, (size_t)span_size(one)) == 0);
}

#endif
