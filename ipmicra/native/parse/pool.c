/* Keeping each text once.
 *
 * Theory of operation
 * -------------------
 * A dump says the same things again and again: a handful of statuses, some thousand holders, and names that half of
 * the time stood in the paragraph before. So rows keep numbers of texts, and a text is copied only when it is new.
 * That is less about room than about time: a page that is touched for the first time costs more than a look into a
 * table that is in use anyway.
 *
 * A look is three waits for memory: the slot, the place of the text whose hash it has, and the text. They are asked
 * for in batches, all slots first, then all places, then all texts, so that the waits of a batch overlap. */

#include "pool.h"

#include "../memory.h"

#ifndef FIRST_SLOTS /* the fuzzer has few texts */
#define FIRST_SLOTS ((size_t)1 << 12)
#endif

/* Make room for so many bytes in all; return whether there is. */
bool reserve_column(Column *column, size_t bytes) {
    if (bytes <= column->capacity)
        return true;
    size_t wanted = column->capacity + column->capacity / 4;
    if (wanted < bytes)
        wanted = bytes;
    uint8_t *larger = make_larger(column->data, wanted, 1);
    if (larger == NULL)
        return false;
    column->data = larger;
    column->capacity = wanted;
    return true;
}

/* Return 32 well-mixed bits of some bytes. */
uint32_t hash_span(Span span) {
    const uint64_t mix = 0x9E3779B97F4A7C15u;
    uint64_t value = 0xCBF29CE484222325u ^ (uint64_t)span_size(span);
    for (; span_size(span) >= 8; span.at += 8) {
        value = (value ^ load_word(span.at, span.end)) * mix;
        value ^= value >> 32;
    }
    if (!is_empty(span))
        value = (value ^ load_word(span.at, span.end)) * mix;
    value ^= value >> 29;
    return (uint32_t)((value * mix) >> 32);
}

void free_pool(Pool *pool) {
    free(pool->text.data);
    free(pool->ends.data);
    free(pool->table.slots);
    *pool = (Pool){0};
}

/* Double a table, or make the first; return whether there was memory. */
static bool grow_slots(Slots *table) {
    size_t size = table->size ? table->size * 2 : FIRST_SLOTS;
    uint64_t *slots = make_zeros(size, sizeof *slots);
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < table->size; i++)
        if (table->slots[i] != 0) {
            size_t slot = (size_t)(table->slots[i] >> 32) & (size - 1);
            while (slots[slot] != 0)
                slot = (slot + 1) & (size - 1);
            slots[slot] = table->slots[i];
        }
    free(table->slots);
    *table = (Slots){slots, size};
    return true;
}

/* Return the slot that holds a text, or the free one where it belongs. The table is never full. */
static inline size_t find_slot(const Pool *pool, Span text, uint32_t hash) {
    const Slots *table = &pool->table;
    size_t slot = hash & (table->size - 1);
    for (; table->slots[slot] != 0; slot = (slot + 1) & (table->size - 1))
        if (table->slots[slot] >> 32 == hash &&
            same_bytes(pool_text(pool, (uint32_t)(table->slots[slot] & UINT32_MAX)), text))
            break;
    return slot;
}

/* Return the number of a text that is known, -1 for one that is not. */
int64_t known_text(const Pool *pool, Span text, uint32_t hash) {
    if (is_empty(text))
        return 0;
    uint64_t found = pool->table.size ? pool->table.slots[find_slot(pool, text, hash)] : 0;
    return found ? (int64_t)(found & UINT32_MAX) : -1;
}

/* Make room for one more text: a quarter of the slots stays free. */
static inline bool has_pool_room(Pool *pool, size_t size) {
    bool is_first = pool->ends.size == 0;
    if (pool->count >= UINT32_MAX - 1 || !reserve_column(&pool->text, pool->text.size + size) ||
        !reserve_column(&pool->ends, pool->ends.size + 2 * sizeof(uint64_t)) ||
        ((size_t)pool->count >= pool->table.size / 4 * 3 && !grow_slots(&pool->table)))
        return false;
    if (is_first) {
        memset(pool->ends.data, 0, sizeof(uint64_t));
        pool->ends.size = sizeof(uint64_t);
    }
    return true;
}

/* Return the number of a text, a new one where it is new; -1 where memory ran out. */
int64_t add_text_to_pool(Pool *pool, Span text, uint32_t hash) {
    size_t size = (size_t)span_size(text);
    if (size == 0)
        return 0;
    if (!has_pool_room(pool, size))
        return -1;
    size_t slot = find_slot(pool, text, hash);
    if (pool->table.slots[slot] != 0)
        return (int64_t)(pool->table.slots[slot] & UINT32_MAX);
    memcpy(pool->text.data + pool->text.size, text.at, size);
    pool->text.size += size;
    uint64_t end = pool->text.size;
    memcpy(pool->ends.data + pool->ends.size, &end, sizeof end);
    pool->ends.size += sizeof end;
    pool->table.slots[slot] = (uint64_t)hash << 32 | ++pool->count;
    return pool->count;
}

/* Number a batch of texts that are not empty; return whether there was memory. */
bool intern_texts(Pool *pool, Wanted *wanted, size_t count) {
    uint32_t likely[BATCH];
    if (count == 0)
        return true;
    if (count > BATCH || (pool->table.size == 0 && !grow_slots(&pool->table)))
        return false;
    const uint64_t *slots = pool->table.slots, *ends = (const uint64_t *)(const void *)pool->ends.data;
    for (size_t i = 0; i < count; i++) {
        wanted[i].hash = hash_span(wanted[i].text);
        __builtin_prefetch(&slots[wanted[i].hash & (pool->table.size - 1)]);
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t slot = slots[wanted[i].hash & (pool->table.size - 1)];
        likely[i] = slot >> 32 == wanted[i].hash ? (uint32_t)slot : 0;
        if (likely[i])
            __builtin_prefetch(&ends[likely[i] - 1]);
    }
    for (size_t i = 0; i < count; i++)
        if (likely[i])
            __builtin_prefetch(pool->text.data + ends[likely[i] - 1]);
    for (size_t i = 0; i < count; i++) {
        int64_t number = likely[i] && same_bytes(pool_text(pool, likely[i]), wanted[i].text)
                             ? likely[i]
                             : add_text_to_pool(pool, wanted[i].text, wanted[i].hash);
        if (number < 0)
            return false;
        *wanted[i].number = (uint32_t)number;
    }
    return true;
}
