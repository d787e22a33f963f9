/* Appending sheets to columns.
 *
 * Theory of operation
 * -------------------
 * What the parser writes row by row in the cache is split into columns here, once, behind what is there already, and
 * texts are replaced by their numbers in a pool that keeps each of them once. Lines are counted from the start of the
 * dump, so each sheet's are raised by what came before. The cost is that of touching memory for the first time; hence
 * columns are reserved as a whole when the first part of a dump tells how dense it is (memory that is not used is
 * never claimed), and ask for huge pages, of which one fault brings 2 MiB.
 *
 * Several dumps follow each other in the same columns. `begin_dump` remembers where one starts, so that `drop_dump`
 * can forget a dump that turns out to be damaged; its texts stay in the pool, where nobody asks for them.
 *
 * Few registrations have a position or an address, in most dumps none has. Their columns (`FIRST_RARE`) stay empty
 * until a row has such a text, and are then filled up with zeros; an empty one stands for zeros only.
 *
 * Each append makes all room first and counts rows last: where memory runs out the columns have not changed. */

#include "gatherer.h"

#include <stdlib.h>

/* Start another dump behind what is there. */
void begin_dump(Gatherer *gatherer) {
    const Column *columns = columns_of(gatherer);
    for (int i = 0; i < COLUMN_COUNT; i++)
        gatherer->begun.sizes[i] = columns[i].size;
    gatherer->begun.text_bytes = gatherer->pool.text.size;
    gatherer->begun.texts = gatherer->pool.count;
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

/* Make room for so many times the bytes that a dump has brought to a column. */
static void expect_more(Column *column, size_t begun, double times) {
    double bytes = (double)begun + (double)(column->size - begun) * times;
    if (bytes < (double)(PTRDIFF_MAX / 2))
        reserve_column(column, (size_t)bytes);
}

/* Make room for so many times what the dump under way has brought to every column, as far as there is memory. */
void reserve_columns(Gatherer *gatherer, double times) {
    Column *columns = columns_of(gatherer);
    for (int i = 0; i < COLUMN_COUNT; i++)
        expect_more(&columns[i], gatherer->begun.sizes[i], times);
    expect_more(&gatherer->pool.text, gatherer->begun.text_bytes, times);
    expect_more(&gatherer->pool.ends, sizeof(uint64_t) * gatherer->begun.texts, times);
}

void free_gatherer(Gatherer *gatherer) {
    Column *columns = columns_of(gatherer);
    for (int i = 0; i < COLUMN_COUNT; i++)
        free(columns[i].data);
    free_pool(&gatherer->pool);
    memset(gatherer, 0, sizeof *gatherer);
}

static inline bool has_room(Column *column, size_t more) { return reserve_column(column, column->size + more); }

static inline size_t row_count(const RowColumns *columns) { return columns->country.size / 2; }

static bool has_row_room(RowColumns *columns, size_t count) {
    return has_room(&columns->country, 2 * count) && has_room(&columns->date, 2 * count) &&
           has_room(&columns->line, 4 * count) && has_room(&columns->registry, count) &&
           has_room(&columns->holder, count) && has_room(&columns->detail, count);
}

/* Return which columns are kept, a bit each: not one that has no text so far and gets none from these rows. */
static unsigned kept_columns(const Column *columns, size_t texts, const Rows *rows) {
    unsigned kept = 0, found[STORED_TEXTS] = {0};
    for (size_t i = 0; texts > FIRST_RARE && i < rows->count; i++)
        for (size_t column = FIRST_RARE; column < texts; column++)
            found[column] |= rows->items[i].lengths[column];
    for (size_t column = 0; column < texts; column++)
        if (column < FIRST_RARE || columns[column].size > 0 || found[column])
            kept |= 1u << column;
    return kept;
}

/* Write zeros for rows that came before a column had its first text; return whether there was memory. */
static bool fill_up(Column *column, size_t before) {
    if (column->size >= 4 * before)
        return true;
    if (!reserve_column(column, 4 * before))
        return false;
    memset(column->data + column->size, 0, 4 * before - column->size);
    column->size = 4 * before;
    return true;
}

static bool has_text_room(Column *columns, size_t texts, const Rows *rows, size_t before) {
    unsigned kept = kept_columns(columns, texts, rows);
    for (size_t i = 0; i < texts; i++)
        if (kept >> i & 1 && !(fill_up(&columns[i], before) && has_room(&columns[i], 4 * rows->count)))
            return false;
    return true;
}

/* Return where a column's next items go, and count them as there. */
static void *extend(Column *column, size_t bytes) {
    void *place = column->data == NULL ? NULL : column->data + column->size;
    column->size += bytes;
    return place;
}

/* Split rows into columns that have room for them. */
static void split_rows(RowColumns *columns, const Rows *rows, uint32_t line_base) {
    size_t count = rows->count;
    uint16_t *country = extend(&columns->country, 2 * count), *date = extend(&columns->date, 2 * count);
    uint32_t *line = extend(&columns->line, 4 * count);
    uint8_t *registry = extend(&columns->registry, count), *holder = extend(&columns->holder, count);
    uint8_t *detail = extend(&columns->detail, count);
    for (size_t i = 0; i < count; i++) {
        const Row *row = &rows->items[i];
        country[i] = row->country;
        date[i] = row->date;
        line[i] = line_base + row->line;
        registry[i] = row->registry;
        holder[i] = row->holder;
        detail[i] = row->detail;
    }
}

/* Write the numbers of some rows' texts behind a column that has room for them, one column after the other, so that
 * the few texts of a narrow one stay in the cache; return whether there was memory for the pool.
 *
 * Neighbours often say the same, which is seen before a text is hashed. */
static bool number_column(Pool *pool, const Sheet *sheet, const Rows *rows, size_t column, uint32_t *numbers) {
    Span last = NO_SPAN;
    for (size_t start = 0; start < rows->count; start += BATCH) {
        size_t stop = rows->count - start < BATCH ? rows->count : start + BATCH, wanted_count = 0;
        Wanted wanted[BATCH];
        bool is_repeated[BATCH];
        for (size_t i = start; i < stop; i++) {
            const Row *row = &rows->items[i];
            size_t at = row->at;
            for (size_t before = 0; before < column; before++)
                at += row->lengths[before];
            Span text = NO_SPAN;
            if (row->lengths[column])
                text = span_of(sheet->text.items + at, sheet->text.items + at + row->lengths[column]);
            numbers[i] = 0;
            is_repeated[i - start] = i > 0 && same_bytes(text, last);
            last = text;
            if (!is_repeated[i - start] && !is_empty(text))
                wanted[wanted_count++] = (Wanted){.text = text, .number = &numbers[i]};
        }
        if (!intern_texts(pool, wanted, wanted_count))
            return false;
        for (size_t i = start; i < stop; i++)
            if (is_repeated[i - start])
                numbers[i] = numbers[i - 1];
    }
    return true;
}

/* Return where a column's next items go. */
static inline uint32_t *behind(const Column *column) {
    return (uint32_t *)(void *)(column->data == NULL ? NULL : column->data + column->size);
}

static bool number_rows(Pool *pool, const Sheet *sheet, const Rows *rows, Column *columns, size_t texts) {
    unsigned kept = kept_columns(columns, texts, rows);
    for (size_t column = 0; column < texts; column++)
        if (rows->count && kept >> column & 1 && !number_column(pool, sheet, rows, column, behind(&columns[column])))
            return false;
    return true;
}

static bool number_findings(Pool *pool, const Sheet *sheet, uint32_t *numbers) {
    for (size_t i = 0; i < sheet->findings.count; i++) {
        const Finding *finding = &sheet->findings.items[i];
        Span text = finding->length ? span_of(sheet->text.items + finding->at,
                                              sheet->text.items + finding->at + finding->length) : NO_SPAN;
        int64_t number = add_text_to_pool(pool, text, finding->length ? hash_span(text) : 0);
        if (number < 0)
            return false;
        numbers[i] = (uint32_t)number;
    }
    return true;
}

static void extend_texts(Column *columns, size_t texts, const Rows *rows) {
    unsigned kept = kept_columns(columns, texts, rows);
    for (size_t i = 0; i < texts; i++)
        columns[i].size += kept >> i & 1 ? 4 * rows->count : 0;
}

/* Make room for a sheet and number its texts behind the columns; return whether there was memory. */
static bool number_sheet(Gatherer *gatherer, const Sheet *sheet) {
    size_t count4 = sheet->rows4.count, count6 = sheet->rows6.count, found = sheet->findings.count;
    Pool *pool = &gatherer->pool;
    return has_room(&gatherer->first4, 4 * count4) && has_room(&gatherer->last4, 4 * count4) &&
           has_row_room(&gatherer->rows4, count4) && has_text_room(gatherer->texts4, STORED_TEXTS, &sheet->rows4, row_count(&gatherer->rows4)) &&
           has_room(&gatherer->wide6, sizeof(WidePair) * count6) && has_row_room(&gatherer->rows6, count6) &&
           has_text_room(gatherer->texts6, STORED_TEXTS, &sheet->rows6, row_count(&gatherer->rows6)) &&
           has_row_room(&gatherer->organisations, sheet->organisations.count) &&
           has_text_room(gatherer->organisation_texts, ORGANISATION_TEXTS, &sheet->organisations,
                         row_count(&gatherer->organisations)) &&
           has_room(&gatherer->findings.line, 4 * found) && has_room(&gatherer->findings.reason, found) &&
           has_room(&gatherer->findings.text, 4 * found) &&
           number_rows(pool, sheet, &sheet->rows4, gatherer->texts4, STORED_TEXTS) &&
           number_rows(pool, sheet, &sheet->rows6, gatherer->texts6, STORED_TEXTS) &&
           number_rows(pool, sheet, &sheet->organisations, gatherer->organisation_texts, ORGANISATION_TEXTS) &&
           number_findings(pool, sheet, behind(&gatherer->findings.text));
}

/* Append what a chunk said; return whether there was memory. */
bool gather_sheet(Gatherer *gatherer, const Sheet *sheet) {
    size_t count4 = sheet->rows4.count, count6 = sheet->rows6.count, found = sheet->findings.count;
    if (!number_sheet(gatherer, sheet))
        return false;
    uint32_t line_base = (uint32_t)(gatherer->lines - gatherer->begun.lines);
    uint32_t *first = extend(&gatherer->first4, 4 * count4), *last = extend(&gatherer->last4, 4 * count4);
    for (size_t i = 0; i < count4; i++) {
        first[i] = sheet->rows4.items[i].first;
        last[i] = sheet->rows4.items[i].last;
    }
    split_rows(&gatherer->rows4, &sheet->rows4, line_base);
    extend_texts(gatherer->texts4, STORED_TEXTS, &sheet->rows4);
    if (count6)
        memcpy(extend(&gatherer->wide6, sizeof(WidePair) * count6), sheet->wide6.items, sizeof(WidePair) * count6);
    split_rows(&gatherer->rows6, &sheet->rows6, line_base);
    extend_texts(gatherer->texts6, STORED_TEXTS, &sheet->rows6);
    split_rows(&gatherer->organisations, &sheet->organisations, line_base);
    extend_texts(gatherer->organisation_texts, ORGANISATION_TEXTS, &sheet->organisations);
    uint32_t *line = extend(&gatherer->findings.line, 4 * found);
    uint8_t *reason = extend(&gatherer->findings.reason, found);
    for (size_t i = 0; i < found; i++) {
        line[i] = line_base + sheet->findings.items[i].line;
        reason[i] = sheet->findings.items[i].reason;
    }
    gatherer->findings.text.size += 4 * found;
    gatherer->lines += sheet->lines;
    for (int i = 0; i < FATE_COUNT; i++)
        gatherer->fates[i] += sheet->fates[i];
    return true;
}

/* Return whether a column has numbers of texts. */
static bool is_text_column(const Gatherer *gatherer, const Column *column) {
    return (column >= gatherer->texts4 && column < gatherer->texts4 + STORED_TEXTS) ||
           (column >= gatherer->texts6 && column < gatherer->texts6 + STORED_TEXTS) ||
           (column >= gatherer->organisation_texts && column < gatherer->organisation_texts + ORGANISATION_TEXTS) ||
           column == &gatherer->findings.text;
}

/* Add all texts of a pool to another, and write the new number of each; return whether there was memory. */
static bool join_pools(Pool *pool, const Pool *other, uint32_t *numbers) {
    numbers[0] = 0;
    for (uint32_t i = 1; i <= other->count; i++) {
        Span text = pool_text(other, i);
        int64_t number = add_text_to_pool(pool, text, hash_span(text));
        if (number < 0)
            return false;
        numbers[i] = (uint32_t)number;
    }
    return true;
}

/* Fill up the rare columns that either of two dumps has, in both; return whether there was memory. */
static bool match_rare(Column *columns, size_t before, Column *others, size_t more) {
    for (size_t i = FIRST_RARE; i < STORED_TEXTS; i++)
        if (columns[i].size || others[i].size)
            if (!fill_up(&columns[i], before) || !fill_up(&others[i], more))
                return false;
    return true;
}

/* Append another dump and empty it, column by column, so that not both are held; return whether there was memory.
 * Its lines stay counted from its own start. */
bool gather_other(Gatherer *gatherer, Gatherer *other) {
    Column *columns = columns_of(gatherer), *others = columns_of(other);
    if (!match_rare(gatherer->texts4, row_count(&gatherer->rows4), other->texts4, row_count(&other->rows4)) ||
        !match_rare(gatherer->texts6, row_count(&gatherer->rows6), other->texts6, row_count(&other->rows6)))
        return false;
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (!has_room(&columns[i], others[i].size))
            return false;
    uint32_t *numbers = malloc(((size_t)other->pool.count + 1) * sizeof *numbers);
    if (numbers == NULL || !join_pools(&gatherer->pool, &other->pool, numbers)) {
        free(numbers);
        return false;
    }
    free_pool(&other->pool);
    for (int i = 0; i < COLUMN_COUNT; i++) {
        uint32_t *added = behind(&columns[i]);
        if (others[i].size)
            memcpy(extend(&columns[i], others[i].size), others[i].data, others[i].size);
        for (size_t k = 0; is_text_column(gatherer, &columns[i]) && k < others[i].size / 4; k++)
            added[k] = numbers[added[k]];
        free(others[i].data);
        others[i] = (Column){NULL, 0, 0};
    }
    free(numbers);
    gatherer->lines += other->lines;
    for (int i = 0; i < FATE_COUNT; i++)
        gatherer->fates[i] += other->fates[i];
    return true;
}
