/* Fuzzing the parser: the first byte chooses the reader, the rest is a chunk of a dump. */

#include <stdlib.h>

#include "../ipmicra/native/parse/gatherer.h"

/* Check what columns promise: texts lie inside the pool and are valid as far as lengths go. */
static void check_rows(const Rows *rows, size_t texts, size_t text_size) {
    for (size_t i = 0; i < rows->count; i++) {
        size_t end = rows->items[i].at;
        for (size_t column = 0; column < texts; column++)
            end += rows->items[i].lengths[column];
        if (end > text_size)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Sheet sheet = {0};
    Gatherer gatherer = {0};
    if (size == 0)
        return 0;
    /* a copy of exactly this size: a read behind it is seen */
    uint8_t *chunk = malloc(size);
    if (chunk == NULL)
        return 0;
    memcpy(chunk, data, size);
    Span text = span_of(chunk + 1, chunk + size);
    if (chunk[0] % 4 == 1) {
        read_statistics(&sheet, text);
    } else if (chunk[0] % 4 == 2) {
        Span cells[IANA_CELLS];
        for (int i = 0; i < IANA_CELLS; i++) {
            const uint8_t *bar = find_byte(text.at, text.end, '|');
            cells[i] = span_of(text.at, bar);
            text.at = bar < text.end ? bar + 1 : bar;
        }
        read_iana_record(&sheet, cells, 1);
    } else {
        read_paragraphs(&sheet, text, REGISTRY_RIPE);
    }
    check_rows(&sheet.rows4, STORED_TEXTS, sheet.text.count);
    check_rows(&sheet.rows6, STORED_TEXTS, sheet.text.count);
    check_rows(&sheet.organisations, ORGANISATION_TEXTS, sheet.text.count);
    if (sheet.rows6.count != sheet.wide6.count || !gather_sheet(&gatherer, &sheet) || !gather_sheet(&gatherer, &sheet))
        abort();
    for (size_t i = 0; i < sheet.rows4.count; i++)
        if (sheet.rows4.items[i].first > sheet.rows4.items[i].last)
            abort();
    free_sheet(&sheet);
    free_gatherer(&gatherer);
    free(chunk);
    return 0;
}
