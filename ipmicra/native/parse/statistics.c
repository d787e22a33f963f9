/* Delegated and delegated-extended statistics: one chunk of whole lines into a sheet.
 *
 * A line is `registry|country|type|start|value|date|status[|opaque id|…]`; the fields are found and trimmed first,
 * then judged. */

#include "sheet.h"

enum { REGISTRY, COUNTRY, TYPE, START, VALUE, DATE, STATUS, OPAQUE, FIELDS };
enum { FEWEST_FIELDS = 7 };
enum { LONGEST_COUNT = 18 }; /* digits that are read; the largest count that fits, 4294967296, has ten */

#define IS(span, word) equals(span, word, sizeof(word) - 1)

/* Find the first eight fields, trimmed; return how many there are, eight at most. */
static int split(Span line, Span fields[FIELDS]) {
    int count = 0;
    fields[OPAQUE] = NO_SPAN;
    while (count < FIELDS) {
        const uint8_t *bar = find_byte(line.at, line.end, '|');
        fields[count++] = trim(span_of(line.at, bar));
        if (bar == line.end)
            break;
        line.at = bar + 1;
    }
    return count;
}

/* Return whether a field is digits and dots only. */
static bool is_version(Span field) {
    if (is_empty(field))
        return false;
    for (; !is_empty(field); field.at++)
        if (*field.at != '.' && !is_digit(*field.at))
            return false;
    return true;
}

/* Return the code of a registry's name, -1 if it is none. */
static int registry_of(Span field) {
    for (size_t i = 0; i < STATISTICS_NAME_COUNT; i++)
        if (equals(field, STATISTICS_NAMES[i].name, STATISTICS_NAMES[i].size))
            return STATISTICS_NAMES[i].code;
    return -1;
}

/* Return the reason why a line is no registration, 0 if it is one. */
static unsigned refusal(const Span fields[FIELDS], int count) {
    if (is_version(fields[REGISTRY]))
        return REASON_HEADER;
    if (count > DATE && IS(fields[DATE], "summary"))
        return REASON_SUMMARY;
    if (count > TYPE && IS(fields[TYPE], "asn"))
        return REASON_ASN;
    if (count < FEWEST_FIELDS || registry_of(fields[REGISTRY]) < 0)
        return REASON_BAD_LINE;
    return IS(fields[TYPE], "ipv4") || IS(fields[TYPE], "ipv6") ? 0 : REASON_BAD_LINE;
}

/* Return whether a field is digits, not all of them 0. */
static bool is_positive(Span field) {
    bool has_other = false;
    for (; !is_empty(field); field.at++) {
        if (!is_digit(*field.at))
            return false;
        has_other |= *field.at != '0';
    }
    return has_other;
}

/* Read an IPv4 start and the number of addresses. */
static Verdict read_count4(Span start, Span value, uint32_t range[2]) {
    Octets first = read_octets(&start);
    if (first.octets < 4 || !is_empty(start) || !is_positive(value))
        return (Verdict){REASON_BAD_RANGE, 0};
    int64_t count = read_number(&value, LONGEST_COUNT);
    if (first.is_too_large || count < 1 || (int64_t)first.value + count > (int64_t)1 << 32)
        return (Verdict){REASON_OUT_OF_RANGE, 0};
    range[0] = first.value;
    range[1] = (uint32_t)(first.value + (uint64_t)count - 1);
    return (Verdict){0, first.has_leading_zero ? REPAIR(REASON_LEADING_ZERO) : 0};
}

static Range read_fields_range(const Span fields[FIELDS]) {
    Range range = {.is_wide = IS(fields[TYPE], "ipv6")};
    if (!range.is_wide) {
        range.verdict = read_count4(fields[START], fields[VALUE], range.narrow);
        return range;
    }
    Span start = fields[START];
    Wide first;
    range.verdict = read_ipv6(&start, &first) && is_empty(start) ? read_length6(fields[VALUE], first, range.wide)
                                                                 : (Verdict){REASON_BAD_RANGE, 0};
    return range;
}

/* Read registry, country, date and kind of holder; return the repairs. */
static unsigned read_facts(const Span fields[FIELDS], Facts *facts) {
    unsigned repairs = 0;
    facts->registry = (unsigned)registry_of(fields[REGISTRY]);
    facts->holder = is_empty(fields[OPAQUE]) ? EVIDENCE_NONE : EVIDENCE_OPAQUE;
    facts->country = facts->date = 0;
    if (!is_empty(fields[COUNTRY]) && !IS(fields[COUNTRY], "*")) {
        facts->country = read_country(fields[COUNTRY]);
        if (facts->country == 0)
            repairs |= REPAIR(REASON_BAD_COUNTRY);
    }
    if (!is_empty(fields[DATE]) && !IS(fields[DATE], "00000000")) {
        facts->date = span_size(fields[DATE]) == 8 ? read_date(fields[DATE]) : 0;
        if (facts->date == 0)
            repairs |= REPAIR(REASON_BAD_DATE);
    }
    return repairs;
}

/* Read one line that is neither blank nor comment. */
static void take_line(Sheet *sheet, Span line, uint32_t number) {
    Span fields[FIELDS];
    int count = split(line, fields);
    unsigned reason = refusal(fields, count);
    if (reason) {
        refuse(sheet, reason == REASON_BAD_LINE ? FATE_UNKNOWN : FATE_SKIPPED, reason, number, line);
        return;
    }
    Range range = read_fields_range(fields);
    if (range.verdict.reason) {
        refuse(sheet, FATE_SKIPPED, range.verdict.reason, number, line);
        return;
    }
    Facts facts = {.line = number};
    unsigned repairs = range.verdict.repairs | read_facts(fields, &facts);
    Row *row = add_registration(sheet, &range, facts);
    repairs |= add_text(sheet, row, TEXT_HOLDER, fields[OPAQUE]);
    repairs |= add_text(sheet, row, TEXT_STATUS, fields[STATUS]);
    accept(sheet, repairs, number, line);
}

/* Read whole lines; what they say is appended to the sheet. Lines are counted from 1. */
void read_statistics(Sheet *sheet, Span chunk) {
    uint32_t number = 0;
    while (!is_empty(chunk)) {
        const uint8_t *newline = find_byte(chunk.at, chunk.end, '\n');
        bool has_return = newline > chunk.at && newline[-1] == '\r';
        Span line = trim(span_of(chunk.at, has_return ? newline - 1 : newline));
        number++;
        if (!is_empty(line) && *line.at != '#')
            take_line(sheet, line, number);
        chunk.at = newline < chunk.end ? newline + 1 : chunk.end;
    }
    sheet->lines += number;
}
