/* Fuzzing how texts and holders are numbered and written: columns of registrations and organisations, sound or not.
 *
 * Numbers of texts and their ends may be any; sizes are as the bindings admit them. Nothing is read outside of the
 * columns and nothing written beyond the room. What is written is read again as it was; rows with one holder have
 * evidence of one kind; of rows of the same range one wins and all others lose to it. */

#include "../ipmicra/native/hierarchy/hierarchy.h"
#include "input.h"

enum { MOST_TEXTS = 5, MOST_BYTES = 48, MOST_ROWS = 5, MOST_PICKED = 8 };

typedef struct {
    Input input;
    Kept kept;
} Source;

static void *keep(Source *source, size_t bytes) {
    return keep_block(&source->kept, take_block(&(Input){NULL, 0}, bytes));
}

static uint8_t *keep_bytes(Source *source, size_t count, unsigned limit) {
    uint8_t *bytes = keep(source, count);
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(take(&source->input, 1) % limit);
    return bytes;
}

/* Bytes as small numbers below zero and above, of which few are meant to fit. */
static int32_t *keep_rows(Source *source, size_t count) {
    int32_t *rows = keep(source, count * sizeof *rows);
    for (size_t i = 0; i < count; i++)
        rows[i] = (int32_t)(take(&source->input, 1) % 16) - 2;
    return rows;
}

static Texts take_texts(Source *source) {
    size_t count = take(&source->input, 1) % (MOST_TEXTS + 1), size = take(&source->input, 1) % (MOST_BYTES + 1);
    uint64_t *ends = keep(source, (count + 1) * sizeof *ends);
    for (size_t i = 1; i <= count; i++) {
        uint64_t step = take(&source->input, 1);
        ends[i] = step < 250 ? ends[i - 1] + step % 16 : step < 253 ? step - 250 : UINT64_MAX - (step - 253);
    }
    uint8_t *bytes = keep_block(&source->kept, take_block(&source->input, size));
    return (Texts){span_of(bytes, bytes + size), ends, count};
}

static RowTable take_rows(Source *source, size_t kinds) {
    size_t shape = take(&source->input, 1), count = shape % (MOST_ROWS + 1);
    RowTable table = {.count = count, .kinds = kinds};
    for (size_t kind = 0; kind < kinds; kind++) {
        if (count == 0 || (kind >= FIRST_RARE && shape & 0x80))
            continue; /* as the bindings have columns without numbers */
        uint32_t *numbers = keep(source, count * sizeof *numbers);
        for (size_t i = 0; i < count; i++)
            numbers[i] = (uint32_t)(take(&source->input, 1) % (MOST_TEXTS + 2));
        table.texts[kind] = numbers;
    }
    uint16_t *words = keep(source, 2 * count * sizeof *words);
    for (size_t i = 0; i < 2 * count; i++)
        words[i] = (uint16_t)(take(&source->input, 1) % 3);
    table.country = words;
    table.date = words + count;
    table.registry = keep_bytes(source, count, 3);
    table.holder = keep_bytes(source, count, EVIDENCE_COUNT);
    table.detail = keep_bytes(source, count, 3);
    return table;
}

static void check_winners(Source *source, const RowTable *rows, const Texts *texts) {
    size_t count = rows->count, repeated = 0;
    uint32_t *order = keep(source, count * sizeof *order);
    uint8_t *is_same = keep_bytes(source, count, 2);
    bool is_sound = true;
    for (size_t i = 0; i < count; i++) {
        order[i] = (uint32_t)i;
        repeated += i > 0 && is_same[i];
    }
    if (count > 0 && take(&source->input, 1) == 255)
        is_sound = (order[0] = (uint32_t)take(&source->input, 1)) == 0;
    int32_t *winners = keep(source, (count - repeated) * sizeof *winners);
    int64_t(*losers)[2] = keep(source, repeated * sizeof *losers);
    int64_t won = pick_winners(rows, texts, order, is_same, count, winners, losers);
    if (!is_sound)
        return;
    if (won != (int64_t)(count - repeated))
        abort();
    for (size_t i = 0; i < repeated; i++)
        if (is_better(rows, texts, (size_t)losers[i][0], (size_t)losers[i][1]))
            abort();
}

/* Compare a text that was written with its length with the one it was. */
static void check_written(const uint8_t *out, size_t size, Span text) {
    size_t length = 0, at = 0;
    for (unsigned shift = 0;; shift += 7) {
        if (at >= size)
            abort();
        length |= (size_t)(out[at] & 0x7F) << shift;
        if (out[at++] < 0x80)
            break;
    }
    if (length != (size_t)span_size(text) || length > size - at || (length && memcmp(out + at, text.at, length) != 0))
        abort();
}

static void check_picked(Source *source, const RowTable tables[2], const Texts *texts) {
    size_t kind = take(&source->input, 1) % STORED_TEXTS, room = take(&source->input, 1) % 128, count = 0;
    int32_t *picked = keep_rows(source, MOST_PICKED);
    uint32_t *places = keep(source, MOST_PICKED * sizeof *places), *written = keep(source, texts->count * sizeof *written);
    uint8_t *out = keep(source, room);
    int64_t bytes = write_picked(texts, tables, kind, picked, MOST_PICKED, places, out, room, written, &count);
    if (count > texts->count || bytes > (int64_t)room)
        abort();
    for (size_t i = 0; bytes >= 0 && i < MOST_PICKED; i++) {
        if (places[i] == 0)
            continue;
        size_t row = (size_t)picked[i], table = row >= tables[0].count;
        if (places[i] > (size_t)bytes)
            abort();
        check_written(out + places[i] - 1, (size_t)bytes - (places[i] - 1),
                      text_of(&tables[table], texts, row - (table ? tables[0].count : 0), kind));
    }
}

/* Number holders anew in the order in which rows are picked, and write them. */
static void check_organisations(Source *source, const RowTable tables[2], const RowTable *known, const Texts *texts,
                                const int32_t *numbers, const uint8_t *kinds, const int64_t *objects, size_t holders) {
    size_t rows = tables[0].count + tables[1].count, room = take(&source->input, 1);
    int32_t *picked = keep_rows(source, MOST_PICKED);
    uint32_t *out = keep(source, MOST_PICKED * sizeof *out);
    int64_t *order = keep(source, holders * sizeof *order), *firsts = keep(source, holders * sizeof *firsts);
    int64_t used = renumber(numbers, rows, picked, MOST_PICKED, out, order, firsts, holders);
    if (used < 0 || (size_t)used > holders)
        abort();
    for (size_t i = 0; i < MOST_PICKED; i++)
        if (out[i] > used || (out[i] > 0 && order[out[i] - 1] != numbers[picked[i]]))
            abort();
    uint8_t *named_kinds = keep(source, (size_t)used);
    int64_t *named_objects = keep(source, (size_t)used * sizeof *named_objects), *at = keep(source, (size_t)used * sizeof *at);
    for (int64_t i = 0; i < used; i++) {
        named_kinds[i] = kinds[order[i]];
        named_objects[i] = objects[order[i]];
    }
    if (used > 0 && take(&source->input, 1) == 255) { /* nobody's */
        named_objects[0] = (int8_t)take(&source->input, 1);
        firsts[0] = (int8_t)take(&source->input, 1);
    }
    uint8_t *records = keep(source, room);
    NamedHolders named = {named_kinds, named_objects, firsts, (size_t)used};
    int64_t bytes = encode_organisations(named, tables, known, texts, records, room, at);
    if (bytes > (int64_t)room)
        abort();
    for (int64_t i = 0; bytes >= 0 && i < used; i++)
        if (at[i] < 0 || at[i] + 4 > bytes || records[at[i]] != named_kinds[i])
            abort();
}

static void check_holders(Source *source, const RowTable tables[2], const RowTable *known, const Texts *texts) {
    size_t rows = tables[0].count + tables[1].count;
    int32_t *numbers = keep(source, rows * sizeof *numbers);
    uint8_t *kinds = keep(source, rows);
    int64_t *objects = keep(source, rows * sizeof *objects), holders = name_holders(tables, known, texts, numbers, kinds, objects);
    if (holders < 0 || (size_t)holders > rows)
        abort();
    for (size_t i = 0; i < rows; i++) {
        size_t table = i >= tables[0].count, row = i - (table ? tables[0].count : 0);
        if (numbers[i] < -1 || numbers[i] >= holders || (numbers[i] >= 0 && kinds[numbers[i]] != tables[table].holder[row]))
            abort();
    }
    for (int64_t i = 0; i < holders; i++)
        if (objects[i] < -1 || objects[i] >= (int64_t)known->count)
            abort();
    check_organisations(source, tables, known, texts, numbers, kinds, objects, (size_t)holders);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Source source = {.input = {data, size}};
    Texts texts = take_texts(&source);
    RowTable tables[2] = {take_rows(&source, STORED_TEXTS), take_rows(&source, STORED_TEXTS)};
    RowTable known = take_rows(&source, ORGANISATION_TEXTS);
    check_winners(&source, &tables[0], &texts);
    check_picked(&source, tables, &texts);
    check_holders(&source, tables, &known, &texts);
    free_kept(&source.kept);
    return 0;
}
