/* Keeping each text once: numbering the texts of a column, and writing them into the pools of a hierarchy file.
 *
 * Theory of operation
 * -------------------
 * Texts are numbered in the order of the dumps, which is the order in which they lie in memory; a text is kept as
 * the place where it first appeared, so nothing is copied. A look into the hash table is a wait for memory; so the
 * next rows are hashed and their slots asked for in batches, and all of them come at the same time. Neighbours in
 * a dump often have the same text, which is seen before it is hashed.
 *
 * A hierarchy file has them in the order of its subnets instead, so that the same dumps in another order give the
 * same bytes: `write_picked` writes a text when the first subnet that has it comes by.
 *
 * In a pool a text's length stands before its bytes, seven bits a byte, low bits first, the top bit set on all but
 * the last: 5 is 05, 300 is AC 02. */

#include "intern.h"

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

/* What numbering a column has found so far. */
typedef struct {
    Span text;
    Slots table;
    Distinct distinct;
    int32_t last; /* number of the row before */
} Numbering;

static inline Span distinct_span(const Numbering *state, size_t number) {
    return text_span(state->text, state->distinct.starts[number], state->distinct.sizes[number]);
}

/* Return the number of a text, a new one where it is new; -1 where memory ran out. */
static int32_t number_of(Numbering *state, Span text, uint32_t hash) {
    Slots *table = &state->table;
    size_t slot = hash & (table->size - 1);
    for (; table->slots[slot] != 0; slot = (slot + 1) & (table->size - 1)) {
        size_t number = (size_t)(table->slots[slot] & UINT32_MAX) - 1;
        if (table->slots[slot] >> 32 == hash && same_bytes(distinct_span(state, number), text))
            return (int32_t)number;
    }
    size_t number = table->used;
    state->distinct.starts[number] = (uint64_t)(text.at - state->text.at);
    state->distinct.sizes[number] = (uint16_t)span_size(text);
    return fill_slot(table, slot, hash) ? (int32_t)number : -1;
}

/* Number the texts of one table; return whether there was memory. */
static bool number_table(Numbering *state, const RowTable *rows, size_t column, int32_t *numbers) {
    for (size_t row = 0; row < rows->count; row += BATCH) {
        Span texts[BATCH];
        uint32_t hashes[BATCH];
        bool is_repeated[BATCH];
        size_t count = rows->count - row < BATCH ? rows->count - row : BATCH;
        for (size_t i = 0; i < count; i++) {
            texts[i] = text_of(rows, state->text, row + i, column);
            is_repeated[i] = i > 0 && same_bytes(texts[i], texts[i - 1]);
            hashes[i] = is_repeated[i] || is_empty(texts[i]) ? 0 : hash_span(texts[i]);
            prefetch_slot(&state->table, hashes[i]);
        }
        for (size_t i = 0; i < count; i++) {
            if (!is_repeated[i])
                state->last = is_empty(texts[i]) ? -1 : number_of(state, texts[i], hashes[i]);
            if (state->last < 0 && !is_empty(texts[i]))
                return false;
            numbers[row + i] = state->last;
        }
    }
    return true;
}

/* Number one text of each row of two tables, -1 for empty ones; return how many distinct texts there are.
 *
 * `numbers` and `distinct` have room for as many as there are rows. */
int64_t number_texts(const RowTable tables[2], Span text, size_t column, int32_t *numbers, Distinct distinct) {
    Numbering state = {.text = text, .distinct = distinct, .last = -1};
    bool is_done = make_slots(&state.table, 0) && number_table(&state, &tables[0], column, numbers) &&
                   number_table(&state, &tables[1], column, numbers + tables[0].count);
    free(state.table.slots);
    return is_done ? (int64_t)state.table.used : OUT_OF_MEMORY;
}

/* Write one text with its length; return the place behind, or NULL where there is no room. */
static uint8_t *put_text(uint8_t *out, const uint8_t *end, Span text) {
    size_t size = (size_t)span_size(text);
    if (out == NULL || end - out < (ptrdiff_t)size + 3)
        return NULL;
    for (size_t rest = size;; rest >>= 7) {
        *out++ = (uint8_t)((rest & 0x7F) | (rest >= 0x80 ? 0x80 : 0));
        if (rest < 0x80)
            break;
    }
    memcpy(out, text.at, size);
    return out + size;
}

/* Write each text when the first row that has it is picked; return the bytes written.
 *
 * A place is where a text starts, counted from 1; 0 stands for none, also for a picked row of -1. What is written
 * depends on the order of the picked rows alone, not on that of the numbers. */
int64_t write_picked(Span text, Distinct distinct, size_t distinct_count, const int32_t *numbers, size_t number_count,
                     const int32_t *picked, size_t count, uint32_t *places, uint8_t *out, size_t out_size,
                     uint32_t *written, size_t *written_count) {
    uint32_t *place_of = make_zeros(distinct_count ? distinct_count : 1, sizeof *place_of);
    uint8_t *at = out;
    *written_count = 0;
    if (place_of == NULL)
        return OUT_OF_MEMORY;
    for (size_t i = 0; i < count && at != NULL; i++) {
        if (i + BATCH < count && picked[i + BATCH] >= 0 && (size_t)picked[i + BATCH] < number_count)
            __builtin_prefetch(&numbers[picked[i + BATCH]]);
        int64_t number = picked[i] >= 0 && (size_t)picked[i] < number_count ? numbers[picked[i]] : -1;
        places[i] = 0;
        if (number < 0 || (size_t)number >= distinct_count)
            continue;
        if (place_of[number] == 0) {
            place_of[number] = written[(*written_count)++] = (uint32_t)(at - out) + 1;
            at = put_text(at, out + out_size, text_span(text, distinct.starts[number], distinct.sizes[number]));
        }
        places[i] = place_of[number];
    }
    free(place_of);
    return at == NULL ? OUT_OF_ROOM : at - out;
}

/* Number anew in the order in which rows are picked, -1 for a row or number of -1.
 *
 * Writes the old number of each new one, and the row that first had it; returns how many there are. */
int64_t renumber(const int32_t *numbers, size_t number_count, const int32_t *picked, size_t count, int32_t *out,
                 int64_t *order, int64_t *firsts, size_t room) {
    int32_t *renumbered = make_zeros(room ? room : 1, sizeof *renumbered); /* new number + 1 */
    int32_t used = 0;
    if (renumbered == NULL)
        return OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++) {
        int64_t old = picked[i] >= 0 && (size_t)picked[i] < number_count ? numbers[picked[i]] : -1;
        if (old < 0 || (size_t)old >= room) {
            out[i] = -1;
            continue;
        }
        if (renumbered[old] == 0) {
            order[used] = old;
            firsts[used] = picked[i];
            renumbered[old] = ++used;
        }
        out[i] = renumbered[old] - 1;
    }
    free(renumbered);
    return used;
}

/* Write what a registration itself says of its holder: a handle, or a name where it has only a description. */
static uint8_t *put_evidence(uint8_t *out, const uint8_t *end, const RowTable *named, Span text, size_t row, int kind) {
    const Span nothing = span_of(text.at, text.at);
    if (kind == EVIDENCE_DESCRIPTION) {
        out = put_text(put_text(out, end, nothing), end, text_of(named, text, row, FIELD_DESCR));
        return put_text(out, end, nothing);
    }
    size_t column = kind == EVIDENCE_MAINTAINER ? FIELD_MAINTAINER : FIELD_HANDLE;
    out = put_text(out, end, text_of(named, text, row, column));
    return put_text(put_text(out, end, nothing), end, nothing);
}

/* Write one record per organisation: evidence, registry, two letters of country, handle, name, address.
 *
 * objects[i] is the row of an organisation object or -1; then row i of `named`, the registration that named it,
 * has to do. Returns the bytes written; at[i] is where a record starts. */
int64_t encode_organisations(const RowTable *named, const RowTable *known, Span text, const uint8_t *kinds,
                             const int64_t *objects, uint8_t *out, size_t out_size, int64_t *at) {
    uint8_t *place = out, *end = out + out_size;
    for (size_t i = 0; i < named->count; i++) {
        bool is_known = objects[i] >= 0 && (size_t)objects[i] < known->count;
        size_t object = is_known ? (size_t)objects[i] : 0;
        unsigned country = is_known ? known->country[object] : 0;
        if (end - place < 4)
            return OUT_OF_ROOM;
        at[i] = place - out;
        *place++ = kinds[i];
        *place++ = named->registry[i];
        *place++ = (uint8_t)(country >> 8);
        *place++ = (uint8_t)country;
        if (!is_known)
            place = put_evidence(place, end, named, text, i, kinds[i]);
        for (size_t column = 0; is_known && column < ORGANISATION_TEXTS; column++)
            place = put_text(place, end, text_of(known, text, object, column));
        if (place == NULL)
            return OUT_OF_ROOM;
    }
    return place - out;
}
