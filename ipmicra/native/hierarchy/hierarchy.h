/* Columns of registrations into a tree, and addresses into rows of it. */
#ifndef IPMICRA_HIERARCHY_H
#define IPMICRA_HIERARCHY_H

#include "../parse/bytes.h"
#include "../parse/values.h"
#include "../vocabulary.h"

/* Columns that registrations of both families and organisations share; see ipmicra/parse/columns.py. */
typedef struct {
    const uint64_t *text;
    const uint16_t *lengths;
    const uint16_t *country;
    const uint16_t *date;
    const uint8_t *registry;
    const uint8_t *holder;
    size_t count;
    size_t texts; /* texts of one row */
} RowTable;

/* Return a span of a text, cut at its end whatever the columns say. */
static inline Span text_span(Span text, uint64_t start, uint64_t length) {
    uint64_t size = (uint64_t)span_size(text);
    uint64_t from = start < size ? start : size;
    uint64_t to = length < size - from ? from + length : size;
    return span_of(text.at + from, text.at + to);
}

/* Return one text of a row. */
static inline Span text_of(const RowTable *rows, Span text, size_t row, size_t column) {
    const uint16_t *lengths = rows->lengths + rows->texts * row;
    uint64_t start = rows->text[row];
    if (lengths[column] == 0)
        return span_of(text.at, text.at); /* as most are in most columns: nothing to add up */
    for (size_t i = 0; i < column; i++)
        start += lengths[i];
    return text_span(text, start, lengths[column]);
}

/* Counts, or why there are none. */
enum { OUT_OF_ROOM = -1, OUT_OF_MEMORY = -2, NOT_SOUND = -3 };

void range_keys(const uint32_t *first, const uint32_t *last, size_t count, uint64_t *keys, uint32_t *order);
bool sort_keys(uint64_t *keys, uint32_t *order, size_t count);

bool is_better(const RowTable *rows, Span text, size_t a, size_t b);
int64_t pick_winners(const RowTable *rows, Span text, const uint32_t *order, const uint8_t *is_same, size_t count,
                     int32_t *winners, int64_t (*losers)[2]);

/* Ranges sorted by start, widest first; the first holds all others. */
typedef struct {
    const uint64_t *first;
    const uint64_t *end;    /* behind the last */
    const uint64_t *widths; /* NULL: the width is end - first */
    size_t count;
} Ranges;

/* What nesting writes, in preorder. */
typedef struct {
    uint32_t *source;
    uint64_t *first;
    uint64_t *end;
    uint32_t *parent;
    size_t room;
    int64_t (*cuts)[2];
    size_t cut_room;
    size_t cut_count;
} Nested;

int64_t nest_ranges(Ranges ranges, Nested *nested);
int64_t deepest_of(const uint32_t *parent, size_t count);
int64_t flatten_tree(const uint64_t *first, const uint64_t *end, const uint32_t *parent, size_t count,
                     uint64_t *segments, size_t room);
void index_segments(const uint64_t *segments, size_t count, unsigned shift, uint64_t *index, size_t size);

/* Distinct texts: where each starts in the pool they came from, and its size. */
typedef struct {
    uint64_t *starts;
    uint16_t *sizes;
} Distinct;

uint32_t hash_span(Span span);
int64_t number_texts(const RowTable tables[2], Span text, size_t column, int32_t *numbers, Distinct distinct);
int64_t write_picked(Span text, Distinct distinct, size_t distinct_count, const int32_t *numbers, size_t number_count,
                     const int32_t *picked, size_t count, uint32_t *places, uint8_t *out, size_t out_size,
                     uint32_t *written, size_t *written_count);
int64_t renumber(const int32_t *numbers, size_t number_count, const int32_t *picked, size_t count, int32_t *out,
                 int64_t *order, int64_t *firsts, size_t room);
int64_t name_holders(const RowTable tables[2], const RowTable *organisations, Span text, int32_t *numbers,
                     uint8_t *kinds, int64_t *objects);
int64_t encode_organisations(const RowTable *named, const RowTable *known, Span text, const uint8_t *kinds,
                             const int64_t *objects, uint8_t *out, size_t out_size, int64_t *at);

#endif
