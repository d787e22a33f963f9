/* Sheets appended to each other until a dump is read: the columns that the hierarchy is made of. */
#ifndef IPMICRA_GATHERER_H
#define IPMICRA_GATHERER_H

#include "pool.h"
#include "sheet.h"

/* Columns that registrations of both families and organisations share; their texts lie beside them. */
typedef struct {
    Column country;
    Column date;
    Column line;
    Column registry;
    Column holder;
    Column detail;
} RowColumns;

enum { ROW_COLUMNS = 6, COLUMN_COUNT = 2 + 1 + 3 * ROW_COLUMNS + 2 * STORED_TEXTS + ORGANISATION_TEXTS + 3 };

typedef struct {
    Column first4;
    Column last4;
    RowColumns rows4;
    Column texts4[STORED_TEXTS]; /* uint32: numbers of texts in the pool */
    Column wide6;
    RowColumns rows6;
    Column texts6[STORED_TEXTS];
    RowColumns organisations;
    Column organisation_texts[ORGANISATION_TEXTS];
    struct {
        Column line;
        Column reason;
        Column text;
    } findings;
    Pool pool;
    uint64_t lines;
    uint64_t fates[FATE_COUNT];
    struct {
        size_t sizes[COLUMN_COUNT];
        size_t text_bytes; /* of the pool */
        uint32_t texts;
        uint64_t lines;
        uint64_t fates[FATE_COUNT];
    } begun; /* what was there when the dump under way began */
} Gatherer;

_Static_assert(offsetof(Gatherer, pool) == COLUMN_COUNT * sizeof(Column), "columns_of lists all columns");

bool gather_sheet(Gatherer *gatherer, const Sheet *sheet);
bool gather_other(Gatherer *gatherer, Gatherer *other);
void begin_dump(Gatherer *gatherer);
void drop_dump(Gatherer *gatherer);
void reserve_columns(Gatherer *gatherer, double times);
void free_gatherer(Gatherer *gatherer);

/* Return all columns, in the order in which they are declared. */
static inline Column *columns_of(Gatherer *gatherer) { return &gatherer->first4; }

#endif
