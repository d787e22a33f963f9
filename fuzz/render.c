/* Fuzzing the lines of look-ups: sections of a hierarchy file that somebody else wrote, and a list of addresses.
 *
 * Whatever the sections say, nothing is read outside of them and nothing written beyond the room; what was noted of
 * rows before changes no line, and neither does the room that there is. Columns of texts have the same texts, whether
 * they are written at once or one by one. */

#include "../ipmicra/native/hierarchy/render.h"
#include "input.h"

enum { MOST_TARGETS = 8, ROOM = 4096 };

/* Numbers are small in sound files: a byte each, spread so that few of them are odd. */
static uint32_t *take_numbers(Input *input, size_t count) {
    uint32_t *numbers = take_block(&(Input){NULL, 0}, count * sizeof *numbers);
    for (size_t i = 0; i < count; i++) {
        uint8_t byte = (uint8_t)take(input, 1);
        numbers[i] = byte < 250 ? byte : UINT32_MAX - (255 - byte);
    }
    return numbers;
}

static Registrations take_registrations(Input *input, void **blocks) {
    size_t sizes[8];
    for (int i = 0; i < 8; i++)
        sizes[i] = take(input, 1);
    size_t rows4 = 1 + sizes[0] % 6, rows6 = 1 + sizes[1] % 6, rows = rows4 + rows6, geo = sizes[2] % 4;
    size_t countries = sizes[3] % 4, statuses = sizes[4] % 4, organisations = sizes[5] % 4;
    size_t names = sizes[6] % 64, records = sizes[7] % 64;
    size_t country_width = sizes[3] & 0x80 ? 2 : 1, status_width = (size_t)1 << (sizes[4] >> 6) % 3;
    blocks[0] = take_block(input, names);
    blocks[1] = take_block(input, records);
    blocks[2] = take_numbers(input, rows);
    blocks[3] = take_numbers(input, rows);
    blocks[4] = take_numbers(input, rows);
    blocks[5] = take_block(input, rows * country_width);
    blocks[6] = take_block(input, rows * status_width);
    blocks[7] = take_block(input, rows);
    blocks[8] = take_block(input, rows * 2);
    blocks[9] = take_block(input, countries * 2);
    blocks[10] = take_numbers(input, statuses);
    blocks[11] = take_numbers(input, organisations);
    for (int i = 12; i < 16; i++)
        blocks[i] = take_numbers(input, geo);
    blocks[16] = take_block(input, rows4 * 8);
    blocks[17] = take_block(input, rows6 * 32);
    return (Registrations){
        .bounds4 = blocks[16],
        .bounds6 = blocks[17],
        .rows4 = rows4,
        .rows6 = rows6,
        .parent = blocks[2],
        .organisation = blocks[3],
        .netname = blocks[4],
        .country = {blocks[5], country_width},
        .status = {blocks[6], status_width},
        .registry = blocks[7],
        .date = blocks[8],
        .countries = blocks[9],
        .country_count = countries,
        .statuses = blocks[10],
        .status_count = statuses,
        .names = span_of(blocks[0], (uint8_t *)blocks[0] + names),
        .organisation_at = blocks[11],
        .organisation_count = organisations,
        .organisations = span_of(blocks[1], (uint8_t *)blocks[1] + records),
        .geo_rows = blocks[12],
        .geoloc = blocks[13],
        .geofeed = blocks[14],
        .postal = blocks[15],
        .geo_count = geo,
    };
}

/* Write the lines of all targets that can be written, target by target; return the bytes written. */
static size_t render(const Registrations *from, const Targets *targets, LineForm form, uint8_t *out, size_t room) {
    size_t total = 0;
    for (size_t at = 0; at < targets->count; at++) {
        size_t written = 0, stop = render_lines(from, targets, at, form, out + total, room - total, &written);
        if (written > room - total || stop < at || stop > targets->count)
            abort();
        total += written;
        at = stop;
    }
    return total;
}

typedef size_t WriteTexts(const Registrations *from, const uint32_t *rows, size_t count, size_t at, TextColumn out);

/* Write a column at once and again text by text; what cannot be written is passed over. */
static void check_column(WriteTexts *write, const Registrations *from, const uint32_t *rows, size_t room) {
    int32_t edges[MOST_TARGETS + 1] = {0};
    uint8_t *data = malloc(room), *alone = malloc(room);
    size_t done = data == NULL || alone == NULL ? 0 : write(from, rows, MOST_TARGETS, 0, (TextColumn){data, room, edges});
    if (done > MOST_TARGETS)
        abort();
    for (size_t i = 0; i < done; i++) {
        int32_t own[2] = {0, 0}, size = edges[i + 1] - edges[i];
        if (size < 0 || (size_t)edges[i + 1] > room || write(from, rows + i, 1, 0, (TextColumn){alone, room, own}) != 1 ||
            own[1] != size || memcmp(alone, data + edges[i], (size_t)size) != 0)
            abort();
    }
    free(data);
    free(alone);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t plain[ROOM], noted[ROOM];
    void *blocks[18];
    int64_t edges[MOST_TARGETS][2];
    Wide words[MOST_TARGETS];
    uint32_t rows[MOST_TARGETS];
    Input input = {data, size};
    Registrations from = take_registrations(&input, blocks);
    size_t all = from.rows4 + from.rows6, at = 0, left, small = 1 + take(&input, 2) % ROOM;
    for (size_t i = 0; i < MOST_TARGETS; i++)
        rows[i] = (uint32_t)(take(&input, 1) % (all + 1));
    check_column(write_labels, &from, rows, small);
    check_column(write_names, &from, rows, small);
    left = input.size;
    uint8_t *text = take_block(&input, left), *notes = take_block(&input, all);
    size_t count = read_lines(span_of(text, text + left), &at, edges, words, MOST_TARGETS);
    Targets targets = {span_of(text, text + left), (const int64_t(*)[2])edges, words, rows, count};
    for (LineForm form = AS_CSV; form <= AS_JSON; form++) {
        from.notes = NULL;
        size_t written = render(&from, &targets, form, plain, ROOM);
        uint8_t *tight = malloc(small);
        if (tight != NULL)
            render(&from, &targets, form, tight, small);
        free(tight);
        note_rows(&from, notes);
        from.notes = notes;
        if (render(&from, &targets, form, noted, ROOM) != written || memcmp(plain, noted, written) != 0)
            abort();
    }
    for (int i = 0; i < 18; i++)
        free(blocks[i]);
    free(text);
    free(notes);
    return 0;
}
