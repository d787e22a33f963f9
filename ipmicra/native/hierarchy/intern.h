/* A hash table that numbers texts. A slot is hash << 32 | number + 1, 0 for a free one.
 *
 * Two texts count as the same only if their bytes are: a hash alone would merge strangers sooner or later. The
 * table knows nothing of where texts are kept; whoever searches it compares. */
#ifndef IPMICRA_INTERN_H
#define IPMICRA_INTERN_H

#include "../memory.h"
#include "hierarchy.h"

typedef struct {
    uint64_t *slots;
    size_t size; /* a power of two */
    size_t used;
} Slots;

enum { FIRST_SLOTS = 1 << 12, BATCH = 32 };

/* Make an empty table for about so many texts; return whether there was memory. */
static inline bool make_slots(Slots *table, size_t expected) {
    table->size = FIRST_SLOTS;
    while (table->size < expected)
        table->size *= 2;
    table->used = 0;
    table->slots = make_zeros(table->size, sizeof *table->slots);
    return table->slots != NULL;
}

/* Double a table; return whether there was memory. */
static inline bool grow_slots(Slots *table) {
    Slots larger = {make_zeros(table->size * 2, sizeof *table->slots), table->size * 2, table->used};
    if (larger.slots == NULL)
        return false;
    for (size_t i = 0; i < table->size; i++)
        if (table->slots[i] != 0) {
            size_t slot = (size_t)(table->slots[i] >> 32) & (larger.size - 1);
            while (larger.slots[slot] != 0)
                slot = (slot + 1) & (larger.size - 1);
            larger.slots[slot] = table->slots[i];
        }
    free(table->slots);
    *table = larger;
    return true;
}

/* Fill a free slot with the next number; return whether there was memory for the table to stay half empty. */
static inline bool fill_slot(Slots *table, size_t slot, uint32_t hash) {
    table->slots[slot] = (uint64_t)hash << 32 | ++table->used;
    return table->used * 2 <= table->size || grow_slots(table);
}

static inline void prefetch_slot(const Slots *table, uint32_t hash) {
    __builtin_prefetch(&table->slots[hash & (table->size - 1)]);
}

static inline bool same_bytes(Span one, Span other) {
    return span_size(one) == span_size(other) && memcmp(one.at, other.at, (size_t)span_size(one)) == 0;
}

#endif
