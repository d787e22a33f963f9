/* Writing rows, texts and findings into a sheet.
 *
 * Theory of operation
 * -------------------
 * A sheet belongs to one chunk and is used again for the next: its arrays grow to what a chunk needs and stay in
 * the processor's cache. Every append asks for room first. Where memory runs out, a flag is set and the append
 * does nothing, so that the loops above need no error paths; the caller looks at the flag when the chunk is done.
 *
 * Texts are always valid UTF-8 and never longer than LONGEST_TEXT. Nearly all are ASCII: they are copied eight
 * bytes at a time while the high bits are gathered, and only a text with a high bit is looked at again. */

#include "sheet.h"

#include <stdlib.h>

enum { LONGEST_TEXT = 1000, LONGEST_EXCERPT = 80, FIRST_ITEMS = 64 };

/* Grow an array to at least `needed` items; return whether that worked. */
bool grow_items(void **items, size_t *capacity, size_t needed, size_t item_size) {
    size_t wanted = *capacity + *capacity / 2;
    if (wanted < needed)
        wanted = needed;
    if (wanted < FIRST_ITEMS)
        wanted = FIRST_ITEMS;
    void *larger = wanted > SIZE_MAX / item_size ? NULL : realloc(*items, wanted * item_size);
    if (larger == NULL)
        return false;
    *items = larger;
    *capacity = wanted;
    return true;
}

/* Forget what a sheet holds and keep its memory. */
void clear_sheet(Sheet *sheet) {
    sheet->rows4.count = sheet->rows6.count = sheet->wide6.count = sheet->organisations.count = 0;
    sheet->findings.count = sheet->text.count = 0;
    sheet->lines = 0;
    sheet->is_out_of_memory = false;
    memset(sheet->fates, 0, sizeof sheet->fates);
}

void free_sheet(Sheet *sheet) {
    free(sheet->rows4.items);
    free(sheet->rows6.items);
    free(sheet->wide6.items);
    free(sheet->organisations.items);
    free(sheet->findings.items);
    free(sheet->text.items);
    memset(sheet, 0, sizeof *sheet);
}

/* Return the length of the UTF-8 sequence at a non-ASCII byte; 0 if it is not valid.
 *
 * E2 82 AC gives 3; C0 80 (overlong), ED A0 80 (a surrogate) and F4 90 80 80 (beyond U+10FFFF) give 0. */
static int sequence_length(Span span) {
    uint8_t lead = *span.at, lowest = 0x80, highest = 0xBF;
    int length;
    if (lead >= 0xC2 && lead <= 0xDF) {
        length = 2;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        length = 3;
        lowest = lead == 0xE0 ? 0xA0 : 0x80;
        highest = lead == 0xED ? 0x9F : 0xBF;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        length = 4;
        lowest = lead == 0xF0 ? 0x90 : 0x80;
        highest = lead == 0xF4 ? 0x8F : 0xBF;
    } else {
        return 0;
    }
    if (span_size(span) < length || span.at[1] < lowest || span.at[1] > highest)
        return 0;
    for (int i = 2; i < length; i++)
        if ((span.at[i] & 0xC0) != 0x80)
            return 0;
    return length;
}

static bool is_utf8(Span span) {
    while (!is_empty(span)) {
        int length = *span.at < 0x80 ? 1 : sequence_length(span);
        if (length == 0)
            return false;
        span.at += length;
    }
    return true;
}

/* Copy a latin-1 span as UTF-8; return the bytes written, and set `is_cut` where not all fitted. */
static size_t copy_latin1(uint8_t *to, Span span, bool *is_cut) {
    size_t written = 0;
    for (; !is_empty(span); span.at++) {
        uint8_t byte = *span.at;
        size_t size = byte < 0x80 ? 1 : 2;
        if (written + size > LONGEST_TEXT) {
            *is_cut = true;
            break;
        }
        if (size == 2)
            to[written++] = 0xC0 | byte >> 6;
        to[written++] = size == 1 ? byte : 0x80 | (byte & 0x3F);
    }
    return written;
}

/* Copy bytes as they are; return whether one of them is over 127. */
static inline bool copy_bytes(uint8_t *to, const uint8_t *from, size_t size) {
    const uint64_t high = 0x8080808080808080u;
    uint64_t word, seen = 0;
    if (size >= 8) {
        for (size_t i = 0; i + 8 <= size; i += 8) {
            memcpy(&word, from + i, 8);
            memcpy(to + i, &word, 8);
            seen |= word;
        }
        memcpy(&word, from + size - 8, 8); /* the last eight, some of them once more */
        memcpy(to + size - 8, &word, 8);
        return ((seen | word) & high) != 0;
    }
    if (size >= 4) {
        uint32_t first, last;
        memcpy(&first, from, 4);
        memcpy(&last, from + size - 4, 4);
        memcpy(to, &first, 4);
        memcpy(to + size - 4, &last, 4);
        return ((first | last) & (uint32_t)high) != 0;
    }
    for (size_t i = 0; i < size; i++) {
        to[i] = from[i];
        seen |= from[i];
    }
    return (seen & 0x80) != 0;
}

/* Write a span as UTF-8 to where there is room for LONGEST_TEXT bytes; return the bytes written. */
static size_t copy_text(uint8_t *to, Span span, bool *is_cut) {
    size_t size = (size_t)span_size(span);
    bool has_high = copy_bytes(to, span.at, size < LONGEST_TEXT ? size : LONGEST_TEXT);
    if (size <= LONGEST_TEXT && !has_high)
        return size;
    if (!is_utf8(span))
        return copy_latin1(to, span, is_cut);
    if (size <= LONGEST_TEXT)
        return size;
    *is_cut = true;
    size = LONGEST_TEXT;
    while ((span.at[size] & 0xC0) == 0x80)
        size--;
    return size;
}

/* Append a text; return its length, and set `is_cut` where it was too long. */
static size_t append_text(Sheet *sheet, Span span, bool *is_cut) {
    if (!HAS_ROOM(sheet->text, LONGEST_TEXT) || sheet->text.count > UINT32_MAX - LONGEST_TEXT) {
        sheet->is_out_of_memory = true;
        return 0;
    }
    size_t length = copy_text(sheet->text.items + sheet->text.count, span, is_cut);
    sheet->text.count += length;
    return length;
}

/* Append a row without range and texts; NULL where memory ran out. */
Row *add_row(Sheet *sheet, Rows *rows, Facts facts) {
    if (!HAS_ROOM(*rows, 1)) {
        sheet->is_out_of_memory = true;
        return NULL;
    }
    Row *row = &rows->items[rows->count++];
    *row = (Row){.at = (uint32_t)sheet->text.count,
                 .line = facts.line,
                 .country = (uint16_t)facts.country,
                 .date = (uint16_t)facts.date,
                 .registry = (uint8_t)facts.registry,
                 .holder = (uint8_t)facts.holder,
                 .detail = (uint8_t)((facts.country != 0) + (facts.date != 0))};
    return row;
}

/* Append the next text of the last row; return the repair it needed, or 0. */
unsigned add_text(Sheet *sheet, Row *row, int column, Span value) {
    if (row == NULL || is_empty(value))
        return 0;
    bool is_cut = false;
    row->detail++;
    row->lengths[column] = (uint16_t)append_text(sheet, value, &is_cut);
    return is_cut ? REPAIR(REASON_VALUE_CUT) : 0;
}

static void add_finding(Sheet *sheet, uint32_t line, unsigned reason, uint32_t at, size_t length) {
    if (!HAS_ROOM(sheet->findings, 1)) {
        sheet->is_out_of_memory = true;
        return;
    }
    sheet->findings.items[sheet->findings.count++] =
        (Finding){.line = line, .at = at, .reason = (uint8_t)reason, .length = (uint8_t)length};
}

/* Append the first bytes of a paragraph's first line, cut between characters; return the length. */
static size_t add_excerpt(Sheet *sheet, Span head) {
    bool is_cut = false;
    if (span_size(head) > LONGEST_EXCERPT) {
        head.end = head.at + LONGEST_EXCERPT;
        while (head.end > head.at && (*head.end & 0xC0) == 0x80)
            head.end--;
    }
    return is_empty(head) ? 0 : append_text(sheet, head, &is_cut);
}

/* Count a paragraph as skipped or unknown, with its finding. */
void refuse(Sheet *sheet, unsigned fate, unsigned reason, uint32_t line, Span head) {
    sheet->fates[fate]++;
    uint32_t at = (uint32_t)sheet->text.count;
    bool has_excerpt = reason != REASON_OTHER_CLASS && reason != REASON_ASN && reason != REASON_SUMMARY &&
                       reason != REASON_HEADER;
    size_t length = has_excerpt ? add_excerpt(sheet, head) : 0;
    add_finding(sheet, line, reason, at, length);
}

/* Count a paragraph as kept or repaired, with a finding for each repair. */
void accept(Sheet *sheet, unsigned repairs, uint32_t line, Span head) {
    if (repairs == 0) {
        sheet->fates[FATE_KEPT]++;
        return;
    }
    sheet->fates[FATE_REPAIRED]++;
    uint32_t at = (uint32_t)sheet->text.count;
    size_t length = add_excerpt(sheet, head);
    for (unsigned reason = 1; reason < 32; reason++)
        if (repairs >> reason & 1)
            add_finding(sheet, line, reason, at, length);
}

/* Read a range of whichever family it is of. */
Range read_range(Span span) {
    Range range = {.verdict = {REASON_NO_RANGE, 0}};
    if (is_empty(span))
        return range;
    range.is_wide = find_byte(span.at, span.end, ':') != span.end;
    range.verdict = range.is_wide ? read_range6(span, range.wide) : read_range4(span, range.narrow);
    return range;
}

/* Append a registration's row with its range; NULL where memory ran out. */
Row *add_registration(Sheet *sheet, const Range *range, Facts facts) {
    if (!range->is_wide) {
        Row *row = add_row(sheet, &sheet->rows4, facts);
        if (row != NULL) {
            row->first = range->narrow[0];
            row->last = range->narrow[1];
        }
        return row;
    }
    if (!HAS_ROOM(sheet->wide6, 1)) {
        sheet->is_out_of_memory = true;
        return NULL;
    }
    Row *row = add_row(sheet, &sheet->rows6, facts);
    if (row != NULL)
        memcpy(sheet->wide6.items[sheet->wide6.count++], range->wide, sizeof range->wide);
    return row;
}
