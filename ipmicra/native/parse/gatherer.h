/* Sheets appended to each other until a dump is read: the columns that the hierarchy is made of. */
#ifndef IPMICRA_GATHERER_H
#define IPMICRA_GATHERER_H

#include "sheet.h"

/* A column of numbers that grows in place. */
typedef struct {
    uint8_t *data;
    size_t size;     /* bytes in use */
    size_t capacity; /* bytes */
} Column;

/* Columns that registrations of both families and organisations share. */
typedef struct {
    Column text; /* uint64: where the row's texts start */
    Column lengths;
    Column country;
    Column date;
    Column line;
    Column registry;
    Column holder;
} RowColumns;

enum { COLUMN_COUNT = 2 + 7 + 1 + 7 + 7 + 4 + 1 };

typedef struct {
    Column first4;
    Column last4;
    RowColumns rows4;
    Column wide6;
    RowColumns rows6;
    RowColumns organisations;
    struct {
        Column line;
        Column reason;
        Column text; /* uint64 */
        Column length;
    } findings;
    Column text;
    uint64_t lines;
    uint64_t fates[FATE_COUNT];
    struct {
        size_t sizes[COLUMN_COUNT];
        uint64_t lines;
        uint64_t fates[FATE_COUNT];
    } begun; /* what was there when the dump under way began */
} Gatherer;

_Static_assert(offsetof(Gatherer, lines) == COLUMN_COUNT * sizeof(Column), "columns_of lists all columns");

bool reserve_column(Column *column, size_t bytes);
bool gather_sheet(Gatherer *gatherer, const Sheet *sheet);
bool gather_other(Gatherer *gatherer, Gatherer *other);
void begin_dump(Gatherer *gatherer);
void drop_dump(Gatherer *gatherer);
void reserve_columns(Gatherer *gatherer, double times);
void free_gatherer(Gatherer *gatherer);

/* Return all columns, in the order in which they are declared. */
static inline Column *columns_of(Gatherer *gatherer) { return &gatherer->first4; }

#endif
