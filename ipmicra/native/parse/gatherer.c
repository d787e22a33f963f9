/* Appending sheets to columns.
 *
 * Theory of operation
 * -------------------
 * What the parser writes row by row in the cache is split into columns here, once, behind what is there already.
 * Texts are counted from the start of the columns and lines from the start of the dump, so each sheet's are raised
 * by what came before. The cost is that of touching memory for the first time; hence columns are reserved as a whole
 * when the first part of a dump tells how dense it is (memory that is not used is never claimed), and ask for huge
 * pages, of which one fault brings 2 MiB.
 *
 * Several dumps follow each other in the same columns. `begin_dump` remembers where one starts, so that `drop_dump`
 * can forget a dump that turns out to be damaged.
 *
 * Each append makes all room first and writes then: where memory runs out nothing has changed. */

#include "gatherer.h"

#include "../memory.h"

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

/* Start another dump behind what is there. */
void begin_dump(Gatherer *gatherer) {
    const Column *columns = columns_of(gatherer);
    for (int i = 0; i < COLUMN_COUNT; i++)
        gatherer->begun.sizes[i] = columns[i].size;
    gatherer->begun.lines = gatherer->lines;
    memcpy(gatherer->begun.fates, gatherer->fates, sizeof gatherer->fates);
}

/* Forget everything since the dump under way began. */
void drop_dump(Gatherer *gatherer) {
    Column *columns = columns_of(gatherer);
    for (int i = 0; i < COLUMN_COUNT; i++)
        columns[i].size = gatherer->begun.sizes[i];
    gatherer->lines = gatherer->begun.lines;
    memcpy(gatherer->fates, gatherer->begun.fates, sizeof gatherer->fates);
}

/* Make room for so many times what the dump under way has brought to every column, as far as there is memory. */
void reserve_columns(Gatherer *gatherer, double times) {
    Column *columns = columns_of(gatherer);
    for (int i = 0; i < COLUMN_COUNT; i++) {
        size_t begun = gatherer->begun.sizes[i];
        double bytes = (double)begun + (double)(columns[i].size - begun) * times;
        if (bytes < (double)(PTRDIFF_MAX / 2))
            reserve_column(&columns[i], (size_t)bytes);
    }
}

void free_gatherer(Gatherer *gatherer) {
    Column *columns = columns_of(gatherer);
    for (int i = 0; i < COLUMN_COUNT; i++)
        free(columns[i].data);
    memset(gatherer, 0, sizeof *gatherer);
}

static inline bool has_room(Column *column, size_t more) { return reserve_column(column, column->size + more); }

static bool has_row_room(RowColumns *columns, size_t count, size_t texts) {
    return has_room(&columns->text, 8 * count) && has_room(&columns->lengths, 2 * texts * count) &&
           has_room(&columns->country, 2 * count) && has_room(&columns->date, 2 * count) &&
           has_room(&columns->line, 4 * count) && has_room(&columns->registry, count) &&
           has_room(&columns->holder, count);
}

/* Return where a column's next items go, and count them as there. */
static void *extend(Column *column, size_t bytes) {
    void *place = column->data == NULL ? NULL : column->data + column->size;
    column->size += bytes;
    return place;
}

/* Split rows into columns that have room for them. */
static void split_rows(RowColumns *columns, const Rows *rows, size_t texts, uint64_t text_base, uint32_t line_base) {
    size_t count = rows->count;
    uint64_t *text = extend(&columns->text, 8 * count);
    uint16_t *lengths = extend(&columns->lengths, 2 * texts * count);
    uint16_t *country = extend(&columns->country, 2 * count), *date = extend(&columns->date, 2 * count);
    uint32_t *line = extend(&columns->line, 4 * count);
    uint8_t *registry = extend(&columns->registry, count), *holder = extend(&columns->holder, count);
    for (size_t i = 0; i < count; i++) {
        const Row *row = &rows->items[i];
        text[i] = text_base + row->at;
        memcpy(lengths + texts * i, row->lengths, 2 * texts);
        country[i] = row->country;
        date[i] = row->date;
        line[i] = line_base + row->line;
        registry[i] = row->registry;
        holder[i] = row->holder;
    }
}

/* Append what a chunk said; return whether there was memory. */
bool gather_sheet(Gatherer *gatherer, const Sheet *sheet) {
    size_t count4 = sheet->rows4.count, count6 = sheet->rows6.count, found = sheet->findings.count;
    bool is_room = has_room(&gatherer->first4, 4 * count4) && has_room(&gatherer->last4, 4 * count4) &&
                   has_row_room(&gatherer->rows4, count4, STORED_TEXTS) &&
                   has_room(&gatherer->wide6, sizeof(WidePair) * count6) &&
                   has_row_room(&gatherer->rows6, count6, STORED_TEXTS) &&
                   has_row_room(&gatherer->organisations, sheet->organisations.count, ORGANISATION_TEXTS) &&
                   has_room(&gatherer->findings.line, 4 * found) && has_room(&gatherer->findings.reason, found) &&
                   has_room(&gatherer->findings.text, 8 * found) && has_room(&gatherer->findings.length, found) &&
                   has_room(&gatherer->text, sheet->text.count);
    if (!is_room)
        return false;
    uint64_t text_base = gatherer->text.size;
    uint32_t line_base = (uint32_t)(gatherer->lines - gatherer->begun.lines);
    uint32_t *first = extend(&gatherer->first4, 4 * count4), *last = extend(&gatherer->last4, 4 * count4);
    for (size_t i = 0; i < count4; i++) {
        first[i] = sheet->rows4.items[i].first;
        last[i] = sheet->rows4.items[i].last;
    }
    split_rows(&gatherer->rows4, &sheet->rows4, STORED_TEXTS, text_base, line_base);
    if (count6)
        memcpy(extend(&gatherer->wide6, sizeof(WidePair) * count6), sheet->wide6.items, sizeof(WidePair) * count6);
    split_rows(&gatherer->rows6, &sheet->rows6, STORED_TEXTS, text_base, line_base);
    split_rows(&gatherer->organisations, &sheet->organisations, ORGANISATION_TEXTS, text_base, line_base);
    uint32_t *line = extend(&gatherer->findings.line, 4 * found);
    uint8_t *reason = extend(&gatherer->findings.reason, found), *length = extend(&gatherer->findings.length, found);
    uint64_t *text = extend(&gatherer->findings.text, 8 * found);
    for (size_t i = 0; i < found; i++) {
        const Finding *finding = &sheet->findings.items[i];
        line[i] = line_base + finding->line;
        reason[i] = finding->reason;
        text[i] = text_base + finding->at;
        length[i] = finding->length;
    }
    if (sheet->text.count)
        memcpy(extend(&gatherer->text, sheet->text.count), sheet->text.items, sheet->text.count);
    gatherer->lines += sheet->lines;
    for (int i = 0; i < FATE_COUNT; i++)
        gatherer->fates[i] += sheet->fates[i];
    return true;
}

/* Raise the last items of a column of uint64. */
static void raise_last(Column *column, size_t from, uint64_t base) {
    if (column->data == NULL)
        return;
    uint64_t *items = (uint64_t *)(void *)column->data;
    for (size_t i = from / 8; i < column->size / 8; i++)
        items[i] += base;
}

/* Append another dump and empty it, column by column, so that not both are held; return whether there was memory.
 * Its lines stay counted from its own start. */
bool gather_other(Gatherer *gatherer, Gatherer *other) {
    Column *columns = columns_of(gatherer), *others = columns_of(other);
    Column *const texts[] = {&gatherer->rows4.text, &gatherer->rows6.text, &gatherer->organisations.text,
                             &gatherer->findings.text};
    size_t from[sizeof texts / sizeof *texts];
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (!has_room(&columns[i], others[i].size))
            return false;
    uint64_t base = gatherer->text.size;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        from[i] = texts[i]->size;
    for (int i = 0; i < COLUMN_COUNT; i++) {
        if (others[i].size)
            memcpy(extend(&columns[i], others[i].size), others[i].data, others[i].size);
        free(others[i].data);
        others[i] = (Column){NULL, 0, 0};
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        raise_last(texts[i], from[i], base);
    gatherer->lines += other->lines;
    for (int i = 0; i < FATE_COUNT; i++)
        gatherer->fates[i] += other->fates[i];
    return true;
}
