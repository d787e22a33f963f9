/* What one chunk of a dump yields: rows, findings, and their texts. */
#ifndef IPMICRA_SHEET_H
#define IPMICRA_SHEET_H

#include "../vocabulary.h"
#include "bytes.h"
#include "values.h"

/* One registration or organisation. Its texts follow each other from `at` on. */
typedef struct {
    uint32_t at;
    uint32_t line;
    uint32_t first; /* IPv4 only */
    uint32_t last;
    uint16_t country;
    uint16_t date;
    uint16_t lengths[STORED_TEXTS];
    uint8_t registry;
    uint8_t holder; /* kind of evidence */
    uint8_t detail; /* values that the paragraph had, kept or not */
} Row;

typedef struct {
    uint32_t line;
    uint32_t at;
    uint8_t reason;
    uint8_t length;
} Finding;

/* An array that grows; `count` items are in use. */
#define GROWING(type)    \
    struct {             \
        type *items;     \
        size_t count;    \
        size_t capacity; \
    }

typedef GROWING(Row) Rows;
typedef Wide WidePair[2];

typedef struct {
    Rows rows4;
    Rows rows6;
    GROWING(WidePair) wide6; /* first and last */
    Rows organisations;
    GROWING(Finding) findings;
    GROWING(uint8_t) text;
    uint64_t lines;
    uint64_t fates[FATE_COUNT];
    bool is_out_of_memory; /* nothing more is written once it is set */
} Sheet;

void clear_sheet(Sheet *sheet);
void free_sheet(Sheet *sheet);
bool grow_items(void **items, size_t *capacity, size_t needed, size_t item_size);

/* Make room for more items; return whether there is. */
#define HAS_ROOM(growing, more)                                                                       \
    ((growing).count + (more) <= (growing).capacity ||                                                \
     grow_items((void **)&(growing).items, &(growing).capacity, (growing).count + (more), sizeof *(growing).items))

/* What all rows have beside range and texts. */
typedef struct {
    unsigned country;
    unsigned date;
    unsigned registry;
    unsigned holder;
    uint32_t line;
} Facts;

Row *add_row(Sheet *sheet, Rows *rows, Facts facts);
unsigned add_text(Sheet *sheet, Row *row, int column, Span value);
void refuse(Sheet *sheet, unsigned fate, unsigned reason, uint32_t line, Span head);
void accept(Sheet *sheet, unsigned repairs, uint32_t line, Span head);

/* A range of either family, read but not yet stored. */
typedef struct {
    Verdict verdict;
    bool is_wide;
    uint32_t narrow[2];
    Wide wide[2];
} Range;

Range read_range(Span span);
Row *add_registration(Sheet *sheet, const Range *range, Facts facts);

/* The readers; each appends to a sheet whatever a chunk of whole paragraphs or lines says. */
void read_paragraphs(Sheet *sheet, Span chunk, unsigned default_registry);
void read_statistics(Sheet *sheet, Span chunk);
enum { IANA_PREFIX, IANA_DESIGNATION, IANA_STATUS, IANA_DATE, IANA_RECORD, IANA_CELLS };
void read_iana_record(Sheet *sheet, const Span cells[IANA_CELLS], uint32_t line);

#endif
