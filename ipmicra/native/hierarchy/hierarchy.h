/* Columns of registrations into a tree, and addresses into rows of it. */
#ifndef IPMICRA_HIERARCHY_H
#define IPMICRA_HIERARCHY_H

#include "../parse/bytes.h"
#include "../parse/values.h"
#include "../vocabulary.h"

/* Texts that are each kept once; number n is bytes[ends[n - 1] .. ends[n]], and 0 the empty text. */
typedef struct {
    Span bytes;
    const uint64_t *ends;
    size_t count; /* the largest number */
} Texts;

/* Columns that registrations of both families and organisations share; see ipmicra/parse/columns.py. */
typedef struct {
    /* Numbers of texts, a column per kind; NULL where no row has one. Organisations have fewer kinds. */
    const uint32_t *texts[STORED_TEXTS];
    const uint16_t *country;
    const uint16_t *date;
    const uint8_t *registry;
    const uint8_t *holder; /* kind of evidence */
    const uint8_t *detail; /* values that the paragraph had */
    size_t count;
    size_t kinds; /* kinds of texts */
} RowTable;

/* Return a text by its number, cut at the end of all whatever the columns say. */
static inline Span text_by_number(const Texts *texts, uint32_t number) {
    if (number == 0 || number > texts->count)
        return span_of(texts->bytes.at, texts->bytes.at);
    uint64_t size = (uint64_t)span_size(texts->bytes), from = texts->ends[number - 1], to = texts->ends[number];
    to = to < size ? to : size;
    return span_of(texts->bytes.at + (from < to ? from : to), texts->bytes.at + to);
}

/* Return the number of one text of a row. */
static inline uint32_t number_of(const RowTable *rows, size_t row, size_t kind) {
    return rows->texts[kind] == NULL ? 0 : rows->texts[kind][row];
}

/* Return one text of a row. */
static inline Span text_of(const RowTable *rows, const Texts *texts, size_t row, size_t kind) {
    return text_by_number(texts, number_of(rows, row, kind));
}

/* Counts, or why there are none. */
enum { OUT_OF_ROOM = -1, OUT_OF_MEMORY = -2, NOT_SOUND = -3 };

void range_keys(const uint32_t *first, const uint32_t *last, size_t count, uint64_t *keys, uint32_t *order);
bool sort_keys(uint64_t *keys, uint32_t *order, size_t count);

bool is_better(const RowTable *rows, const Texts *texts, size_t a, size_t b);
int64_t pick_winners(const RowTable *rows, const Texts *texts, const uint32_t *order, const uint8_t *is_same, size_t count,
                     int32_t *winners, int64_t (*losers)[2]);

/* Ranges as the keys by which they are sorted: first << 32 | inverted last, ends included. The first holds all others. */
typedef struct {
    const uint64_t *keys;
    const uint64_t *widths; /* NULL: the width is last - first */
    size_t count;
} Ranges;

int64_t rank_ranges(const uint64_t (*ranges)[4], size_t count, uint64_t *keys, uint64_t (*values)[2]);

/* What nesting writes, in preorder. */
typedef struct {
    uint32_t *source;
    uint32_t (*bounds)[2]; /* first and last */
    uint32_t *parent;
    size_t room;
    int64_t (*cuts)[2];
    size_t cut_room;
    size_t cut_count;
    size_t deepest; /* 0 for a root alone */
} Nested;

int64_t nest_ranges(Ranges ranges, Nested *nested);
int64_t flatten_tree(const uint32_t (*bounds)[2], const uint32_t *parent, size_t count, uint64_t *segments,
                     size_t room);
void index_segments(const uint64_t *segments, size_t count, unsigned shift, uint64_t *index, size_t size);

int64_t write_picked(const Texts *texts, const RowTable tables[2], size_t kind, const int32_t *picked, size_t count,
                     uint32_t *places, uint8_t *out, size_t out_size, uint32_t *written, size_t *written_count);
int64_t renumber(const int32_t *numbers, size_t number_count, const int32_t *picked, size_t count, uint32_t *out,
                 int64_t *order, int64_t *firsts, size_t room);
int64_t name_holders(const RowTable tables[2], const RowTable *organisations, const Texts *texts, int32_t *numbers,
                     uint8_t *kinds, int64_t *objects);

/* The organisations of a file: the kind of evidence of each, the object it led to or -1, and the registration that
 * named it first, counted across both families. */
typedef struct {
    const uint8_t *kinds;
    const int64_t *objects;
    const int64_t *firsts;
    size_t count;
} NamedHolders;

int64_t encode_organisations(NamedHolders named, const RowTable tables[2], const RowTable *known, const Texts *texts,
                             uint8_t *out, size_t out_size, int64_t *at);

#endif
