/* Writing texts into the pools of a hierarchy file.
 *
 * Theory of operation
 * -------------------
 * The texts of registrations are numbered in the order of the dumps. A hierarchy file has them in the order of its
 * subnets instead, so that the same dumps in another order give the same bytes: `write_picked` writes a text when the
 * first subnet that has it comes by.
 *
 * In a pool a text's length stands before its bytes, seven bits a byte, low bits first, the top bit set on all but
 * the last: 5 is 05, 300 is AC 02. */

#include "../memory.h"
#include "hierarchy.h"

enum { AHEAD = 32 };           /* rows whose numbers are asked for before their turn */
enum { LONGEST = (1 << 21) - 1 }; /* bytes whose number fits the three that readers accept */

/* Write one text with its length; return the place behind, or NULL where there is no room. */
static uint8_t *put_text(uint8_t *out, const uint8_t *end, Span text) {
    size_t size = (size_t)span_size(text);
    if (out == NULL || size > LONGEST || end - out < (ptrdiff_t)size + 3)
        return NULL;
    for (size_t rest = size;; rest >>= 7) {
        *out++ = (uint8_t)((rest & 0x7F) | (rest >= 0x80 ? 0x80 : 0));
        if (rest < 0x80)
            break;
    }
    if (size)
        memcpy(out, text.at, size);
    return out + size;
}

/* Return where the number of a registration's text is; NULL for one that does not exist, or where none is. */
static inline const uint32_t *number_at(const RowTable tables[2], size_t kind, int32_t registration) {
    size_t row = (size_t)registration;
    if (registration < 0 || row >= tables[0].count + tables[1].count)
        return NULL;
    const RowTable *table = row < tables[0].count ? &tables[0] : &tables[1];
    row -= table == &tables[1] ? tables[0].count : 0;
    return table->texts[kind] == NULL ? NULL : &table->texts[kind][row];
}

/* Write each text of a kind when the first registration that has it is picked; return the bytes written.
 *
 * A place is where a text starts, counted from 1; places are 0 before, and stay so where there is none, also for a
 * picked registration of -1: pages of zeros are not touched. What is written depends on the order of the picked ones
 * alone, not on that of the numbers. */
int64_t write_picked(const Texts *texts, const RowTable tables[2], size_t kind, const int32_t *picked, size_t count,
                     uint32_t *places, uint8_t *out, size_t out_size, uint32_t *written, size_t *written_count) {
    uint32_t *place_of = make_zeros(texts->count + 1, sizeof *place_of);
    uint8_t *at = out;
    *written_count = 0;
    if (place_of == NULL)
        return OUT_OF_MEMORY;
    for (size_t i = 0; i < count && at != NULL; i++) {
        if (i + AHEAD < count)
            __builtin_prefetch(number_at(tables, kind, picked[i + AHEAD]));
        const uint32_t *number = number_at(tables, kind, picked[i]);
        if (number == NULL || *number == 0 || *number > texts->count)
            continue;
        if (place_of[*number] == 0) {
            place_of[*number] = written[(*written_count)++] = (uint32_t)(at - out) + 1;
            at = put_text(at, out + out_size, text_by_number(texts, *number));
        }
        places[i] = place_of[*number];
    }
    free(place_of);
    return at == NULL ? OUT_OF_ROOM : at - out;
}

/* Number anew from 1 on, in the order in which rows are picked; 0 for a row or number of -1.
 *
 * Writes the old number of each new one, and the row that first had it; returns how many there are. */
int64_t renumber(const int32_t *numbers, size_t number_count, const int32_t *picked, size_t count, uint32_t *out,
                 int64_t *order, int64_t *firsts, size_t room) {
    uint32_t *renumbered = make_zeros(room ? room : 1, sizeof *renumbered);
    uint32_t used = 0;
    if (renumbered == NULL)
        return OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++) {
        int64_t old = picked[i] >= 0 && (size_t)picked[i] < number_count ? numbers[picked[i]] : -1;
        if (old < 0 || (size_t)old >= room) {
            out[i] = 0;
            continue;
        }
        if (renumbered[old] == 0) {
            order[used] = old;
            firsts[used] = picked[i];
            renumbered[old] = ++used;
        }
        out[i] = renumbered[old];
    }
    free(renumbered);
    return used;
}

/* Write what a registration itself says of its holder: a handle, or a name where it has none. */
static uint8_t *put_evidence(uint8_t *out, const uint8_t *end, Span text, int kind) {
    const Span nothing = NO_SPAN;
    if (kind == EVIDENCE_DESCRIPTION || kind == EVIDENCE_OWNER)
        return put_text(put_text(put_text(out, end, nothing), end, text), end, nothing);
    return put_text(put_text(put_text(out, end, text), end, nothing), end, nothing);
}

/* Write one record per organisation: evidence, registry, two letters of country, handle, name, address.
 *
 * Where no object is known, the registration that named the holder has to do. Returns the bytes written; at[i] is
 * where a record starts. */
int64_t encode_organisations(NamedHolders named, const RowTable tables[2], const RowTable *known, const Texts *texts,
                             uint8_t *out, size_t out_size, int64_t *at) {
    uint8_t *place = out, *end = out + out_size;
    for (size_t i = 0; i < named.count; i++) {
        bool is_known = named.objects[i] >= 0 && (size_t)named.objects[i] < known->count;
        size_t object = is_known ? (size_t)named.objects[i] : 0, row = (size_t)named.firsts[i];
        const RowTable *table = row < tables[0].count ? &tables[0] : &tables[1];
        unsigned country = is_known ? known->country[object] : 0;
        row -= table == &tables[1] ? tables[0].count : 0;
        if (named.firsts[i] < 0 || row >= table->count)
            return NOT_SOUND;
        if (end - place < 4)
            return OUT_OF_ROOM;
        at[i] = place - out;
        *place++ = named.kinds[i];
        *place++ = table->registry[row];
        *place++ = (uint8_t)(country >> 8);
        *place++ = (uint8_t)country;
        if (!is_known)
            place = put_evidence(place, end, text_of(table, texts, row, TEXT_HOLDER), named.kinds[i]);
        for (size_t kind = 0; is_known && kind < ORGANISATION_TEXTS; kind++)
            place = put_text(place, end, text_of(known, texts, object, kind));
        if (place == NULL)
            return OUT_OF_ROOM;
    }
    return place - out;
}
