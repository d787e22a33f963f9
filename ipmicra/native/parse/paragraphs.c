/* The paragraph dialects (RPSL, LACNIC, ARIN): one chunk of whole paragraphs into a sheet.
 *
 * Theory of operation
 * -------------------
 * A paragraph's values are remembered as spans of the chunk and copied only when it ends: most lines are of no
 * use, and of the useful ones only the first of its kind counts. So the cost of a line is that of finding its end
 * and recognising its key. A key of up to sixteen bytes is folded to lower case in two words and looked up in a
 * table (vocabulary.h); letters, digits and signs keep apart because folding sets one bit only, and a control
 * character that folding turned into a sign is found out by the bits that it lacked.
 *
 * A value that continues over several lines is joined in a scratch area, which is emptied at the end of each
 * paragraph. Each byte of a paragraph is copied there at most twice (once to join a value's lines, once to join
 * address lines) and each separator takes the place of a line end, so twice the chunk is always enough; it is
 * allocated when the first such value appears, and where a system has no memory for it the sheet is marked.
 *
 * Lines: a blank one ends a paragraph; `#` and `%` start comments; a space, tab or `+` continues the value above,
 * also beyond comments. */

#include <stdlib.h>

#include "sheet.h"

enum { MOST_ADDRESSES = 400 }; /* more than fit into the longest text: each takes three bytes of it */
enum { LONGEST_KEY = 32 };
#define KEY_BITS (((uint64_t)1 << LONGEST_KEY) - 1)

typedef struct {
    Sheet *sheet;
    Span rest;  /* what is still to be read */
    uint32_t line; /* number of the line at `rest.at` */
    unsigned default_registry;
    uint8_t *scratch;
    size_t scratch_size;
    size_t scratch_used;
    /* the paragraph under way; first_line is 0 between paragraphs */
    uint32_t first_line;
    Span head;
    unsigned kind;
    unsigned holder;
    bool has_junk;
    Span values[FIELD_COUNT];
    Span addresses[MOST_ADDRESSES];
    int address_count;
} Reader;

typedef struct {
    Span text; /* without its end */
    const uint8_t *next;
    const uint8_t *colon; /* NULL where none is among the first LONGEST_KEY bytes */
    const uint8_t *value; /* behind the colon and spaces */
    uint64_t words[2];    /* the first sixteen bytes; those behind the end of the chunk count as 0 */
    bool may_have_comment;
} Line;

typedef struct {
    unsigned field;
    unsigned kind;
    bool is_attribute;
} Key;

/* Find the end of a line, its colon, its value and whether it has a `#`, all from one block of 64 bytes.
 *
 * Lines differ in length, keys too: loops over them would be mispredicted once each. Most lines fit a block, so
 * that masks of it tell everything without a branch. At the end of a chunk a copy filled up with zeros stands in. */
static inline Line line_at(const uint8_t *at, const uint8_t *end) {
    uint8_t tail[BLOCK];
    const uint8_t *block = at;
    if (end - at < BLOCK) {
        memset(tail, 0, sizeof tail);
        memcpy(tail, at, (size_t)(end - at));
        block = tail;
    }
    uint64_t newlines = match64(block, '\n');
    uint64_t before = newlines ? (newlines & -newlines) - 1 : UINT64_MAX;
    const uint8_t *newline = newlines        ? at + __builtin_ctzll(newlines)
                             : block == tail ? end
                                             : find_byte(at + BLOCK, end, '\n');
    bool has_return = newline > at && newline[-1] == '\r';
    Line line = {.text = {at, has_return ? newline - 1 : newline}, .next = newline < end ? newline + 1 : end};
    line.may_have_comment = !newlines || (match64(block, '#') & before) != 0;
    memcpy(line.words, block, sizeof line.words);
    uint64_t colons = match64(block, ':') & before & KEY_BITS;
    if (colons) {
        unsigned colon = (unsigned)__builtin_ctzll(colons);
        line.colon = line.value = at + colon;
        line.value += 1 + count_spaces(block + colon + 1);
    }
    return line;
}

static inline bool is_continuation(int byte) { return byte == ' ' || byte == '\t' || byte == '+'; }

static inline bool is_comment(int byte) { return byte == '#' || byte == '%'; }

static inline bool is_blank_line(Span text) {
    return is_empty(text) || (is_blank(*text.at) && is_empty(trim(text)));
}

/* Return whether folding turned a control character into a sign: it has neither bit 5 nor bit 6.
 *
 * `last\rmodified` folds to `last-modified`: 0x0D has neither bit, so it is found out. */
static inline bool has_control(uint64_t raw, uint64_t folded) {
    uint64_t used = folded | folded << 1, seen = raw | raw << 1;
    return (used & ~seen & 0x4040404040404040u) != 0;
}

/* Look up a key of at most sixteen bytes, given in two words with whatever follows it; NULL if it is not known. */
static inline const KeySlot *find_key(const uint64_t words[2], size_t size) {
    uint64_t low_mask = size >= 8 ? UINT64_MAX : ((uint64_t)1 << 8 * size) - 1;
    uint64_t high_mask = size >= 16 ? UINT64_MAX : size > 8 ? ((uint64_t)1 << 8 * (size - 8)) - 1 : 0;
    uint64_t raw_low = words[0] & low_mask, raw_high = words[1] & high_mask;
    uint64_t low = fold_word(raw_low) & low_mask, high = fold_word(raw_high) & high_mask;
    for (size_t slot = KEY_SLOT(low, high); KEY_SLOTS[slot].is_used; slot = (slot + 1) % KEY_SLOT_COUNT)
        if (KEY_SLOTS[slot].low == low && KEY_SLOTS[slot].high == high)
            return has_control(raw_low, low) || has_control(raw_high, high) ? NULL : &KEY_SLOTS[slot];
    return NULL;
}

/* Recognise an attribute line: some bytes that are not blank, at most 31, and a colon. */
static inline Key read_key(const Line *line) {
    const Key junk = {FIELD_NONE, KIND_UNKNOWN, false};
    if (line->colon == NULL || line->colon == line->text.at)
        return junk;
    size_t size = (size_t)(line->colon - line->text.at);
    const KeySlot *known = size <= 16 ? find_key(line->words, size) : NULL;
    if (known != NULL)
        return (Key){known->field, known->kind, true};
    for (const uint8_t *at = line->text.at; at < line->colon; at++)
        if (is_blank(*at))
            return junk;
    return (Key){FIELD_NONE, KIND_UNKNOWN, true};
}

/* Copy a span behind what is in the scratch area; return whether there was room. */
static bool append_scratch(Reader *reader, Span span) {
    if (reader->scratch == NULL) {
        reader->scratch = malloc(reader->scratch_size);
        if (reader->scratch == NULL) {
            reader->sheet->is_out_of_memory = true;
            return false;
        }
    }
    size_t size = (size_t)span_size(span);
    if (size > reader->scratch_size - reader->scratch_used)
        return false;
    if (size > 0)
        memcpy(reader->scratch + reader->scratch_used, span.at, size);
    reader->scratch_used += size;
    return true;
}

/* Append to a value: `first` is what it is so far, which moves to the scratch area the first time. */
static Span join(Reader *reader, Span first, const char *separator, Span more) {
    const uint8_t *behind = reader->scratch == NULL ? NULL : reader->scratch + reader->scratch_used;
    bool is_copied = behind != NULL && first.end == behind && first.at >= reader->scratch;
    size_t start = is_copied ? (size_t)(first.at - reader->scratch) : reader->scratch_used;
    if (!is_copied && !append_scratch(reader, first))
        return first;
    size_t gap = strlen(separator);
    if (!is_empty(first))
        append_scratch(reader, span_of((const uint8_t *)separator, (const uint8_t *)separator + gap));
    append_scratch(reader, more);
    return span_of(reader->scratch + start, reader->scratch + reader->scratch_used);
}

/* Join the lines that continue a value, and step behind the last of them. */
static Span join_lines(Reader *reader, Span value) {
    const uint8_t *at = reader->rest.at, *end = reader->rest.end;
    uint32_t lines = 0;
    while (at < end && (is_continuation(*at) || is_comment(*at))) {
        Line line = line_at(at, end);
        lines++;
        if (is_continuation(*at)) {
            Span more = trim(line.text);
            if (is_empty(more))
                break; /* blank: the paragraph ends here */
            if (*at == '+')
                more = trim(span_of(line.text.at + 1, line.text.end));
            if (!is_empty(more))
                value = join(reader, value, " ", more);
            reader->rest.at = line.next;
            reader->line += lines;
            lines = 0;
        }
        at = line.next;
    }
    return value;
}

/* Step over comments and lines that continue a value of no use. */
static void skip_continuations(Reader *reader) {
    while (is_continuation(peek(reader->rest)) || is_comment(peek(reader->rest))) {
        Line line = line_at(reader->rest.at, reader->rest.end);
        if (is_blank_line(line.text))
            return;
        reader->rest.at = line.next;
        reader->line++;
    }
}

/* Step over the lines of a paragraph that is of no use, up to a blank line. */
static void skip_paragraph(Reader *reader) {
    while (!is_empty(reader->rest)) {
        Line line = line_at(reader->rest.at, reader->rest.end);
        if (is_blank_line(line.text))
            return;
        reader->rest.at = line.next;
        reader->line++;
    }
}

/* Remember the first name of a list of maintainers that is no registry's own. */
static void take_maintainer(Reader *reader, Span list) {
    while (!is_empty(list)) {
        while (!is_empty(list) && (is_blank(*list.at) || *list.at == ','))
            list.at++;
        Span word = span_of(list.at, list.at);
        while (word.end < list.end && !is_blank(*word.end) && *word.end != ',')
            word.end++;
        if (!is_empty(word) && !is_registry_maintainer(word)) {
            reader->values[FIELD_MAINTAINER] = word;
            return;
        }
        list.at = word.end;
    }
}

/* Remember the handle of a registration's holder, and its kind. */
static void take_handle(Reader *reader, unsigned field, Span value) {
    if (field == FIELD_OWNERID && !is_set(reader->values[FIELD_OWNERID]))
        reader->values[FIELD_OWNERID] = value;
    if (reader->kind == KIND_REGISTRATION && !is_set(reader->values[FIELD_HANDLE])) {
        reader->values[FIELD_HANDLE] = value;
        reader->holder = field == FIELD_HANDLE    ? EVIDENCE_ORG
                         : field == FIELD_OWNERID ? EVIDENCE_OWNERID
                                                  : EVIDENCE_ORGID;
    }
}

/* Remember the value of an attribute that matters and is not known yet. */
static void take(Reader *reader, unsigned field, Span value, bool may_have_comment) {
    if (field == FIELD_DESCR || field == FIELD_NAME || field == FIELD_OWNER) {
        if (!is_empty(value))
            reader->values[field] = value;
        return;
    }
    if (field == FIELD_ADDRESS) {
        if (!is_empty(value) && reader->address_count < MOST_ADDRESSES)
            reader->addresses[reader->address_count++] = value;
        return;
    }
    if (field == FIELD_REMARK && (is_empty(value) || (*value.at | 0x20) != 'g'))
        return;
    if (may_have_comment)
        value = cut_comment(value);
    if (field == FIELD_RANGE) {
        reader->values[FIELD_RANGE] = value; /* also if it is empty: the first counts */
    } else if (is_empty(value)) {
        return;
    } else if (field == FIELD_MAINTAINER) {
        take_maintainer(reader, value);
    } else if (field == FIELD_REMARK) {
        Span word = read_geofeed(value);
        if (!is_empty(word))
            reader->values[FIELD_REMARK] = word;
    } else if (field == FIELD_HANDLE || field == FIELD_OWNERID || field == FIELD_ORGID) {
        take_handle(reader, field, value);
    } else {
        reader->values[field] = value;
    }
}

/* Read country and date into facts; return the repairs. */
static unsigned read_facts(const Reader *reader, Facts *facts) {
    static const uint8_t dates[] = {FIELD_MODIFIED, FIELD_CHANGED, FIELD_CREATED};
    unsigned repairs = 0;
    facts->line = reader->first_line;
    facts->registry = read_source(reader->values[FIELD_SOURCE], reader->default_registry);
    facts->holder = reader->holder;
    facts->country = facts->date = 0;
    if (is_set(reader->values[FIELD_COUNTRY])) {
        facts->country = read_country(reader->values[FIELD_COUNTRY]);
        if (facts->country == 0)
            repairs |= REPAIR(REASON_BAD_COUNTRY);
    }
    for (size_t i = 0; i < sizeof dates; i++)
        if (is_set(reader->values[dates[i]])) {
            facts->date = read_date(reader->values[dates[i]]);
            if (facts->date == 0)
                repairs |= REPAIR(REASON_BAD_DATE);
            break;
        }
    return repairs;
}

/* Return the address lines of the paragraph in one. */
static Span join_addresses(Reader *reader) {
    Span address = NO_SPAN;
    for (int i = 0; i < reader->address_count; i++)
        address = i == 0 ? reader->addresses[0] : join(reader, address, ", ", reader->addresses[i]);
    return address;
}

/* Write an organisation; return the repairs that its texts needed. */
static unsigned put_organisation(Reader *reader, Facts facts, Span handle, Span name, Span address) {
    Row *row = add_row(reader->sheet, &reader->sheet->organisations, facts);
    unsigned repairs = add_text(reader->sheet, row, 0, handle);
    repairs |= add_text(reader->sheet, row, 1, name);
    return repairs | add_text(reader->sheet, row, 2, address);
}

/* Return what names the holder of a registration best, and note its kind: a handle, else a name, else a maintainer,
 * else the description. The others are of no use to a hierarchy and not kept. */
static Span find_holder(const Span values[FIELD_COUNT], Facts *facts) {
    if (is_set(values[FIELD_HANDLE]))
        return values[FIELD_HANDLE];
    if (is_set(values[FIELD_OWNER])) {
        facts->holder = EVIDENCE_OWNER;
        return values[FIELD_OWNER];
    }
    if (is_set(values[FIELD_MAINTAINER])) {
        facts->holder = EVIDENCE_MAINTAINER;
        return values[FIELD_MAINTAINER];
    }
    if (is_set(values[FIELD_DESCR]))
        facts->holder = EVIDENCE_DESCRIPTION;
    return values[FIELD_DESCR];
}

/* Turn the paragraph under way into a registration, or into the finding that says why not. */
static void close_registration(Reader *reader) {
    Sheet *sheet = reader->sheet;
    Span *values = reader->values;
    Range range = read_range(values[FIELD_RANGE]);
    if (range.verdict.reason) {
        refuse(sheet, FATE_SKIPPED, range.verdict.reason, reader->first_line, reader->head);
        return;
    }
    Facts facts;
    unsigned repairs = range.verdict.repairs | read_facts(reader, &facts);
    Span holder = find_holder(values, &facts), address = join_addresses(reader);
    Row *row = add_registration(sheet, &range, facts);
    if (!is_set(values[FIELD_GEOFEED]))
        values[FIELD_GEOFEED] = values[FIELD_REMARK];
    repairs |= add_text(sheet, row, TEXT_NETNAME, values[FIELD_NETNAME]);
    repairs |= add_text(sheet, row, TEXT_HOLDER, holder);
    repairs |= add_text(sheet, row, TEXT_STATUS, values[FIELD_STATUS]);
    repairs |= add_text(sheet, row, TEXT_GEOLOC, values[FIELD_GEOLOC]);
    repairs |= add_text(sheet, row, TEXT_GEOFEED, values[FIELD_GEOFEED]);
    repairs |= add_text(sheet, row, TEXT_ADDRESS, address);
    if (row != NULL && is_set(holder)) /* of the four one is counted already */
        row->detail += (uint8_t)(is_set(values[FIELD_HANDLE]) + is_set(values[FIELD_OWNER]) +
                                 is_set(values[FIELD_MAINTAINER]) + is_set(values[FIELD_DESCR]) - 1);
    if (is_set(values[FIELD_OWNERID]) && is_set(values[FIELD_OWNER])) {
        facts.holder = EVIDENCE_OWNERID;
        repairs |= put_organisation(reader, facts, values[FIELD_OWNERID], values[FIELD_OWNER], address);
    }
    if (reader->has_junk)
        repairs |= REPAIR(REASON_JUNK_LINE);
    accept(sheet, repairs, reader->first_line, reader->head);
}

/* Turn the paragraph under way into an organisation. */
static void close_organisation(Reader *reader) {
    if (!is_set(reader->values[FIELD_HANDLE])) {
        refuse(reader->sheet, FATE_SKIPPED, REASON_NO_HANDLE, reader->first_line, reader->head);
        return;
    }
    Facts facts;
    unsigned repairs = read_facts(reader, &facts);
    repairs |= put_organisation(reader, facts, reader->values[FIELD_HANDLE], reader->values[FIELD_NAME],
                                join_addresses(reader));
    if (reader->has_junk)
        repairs |= REPAIR(REASON_JUNK_LINE);
    accept(reader->sheet, repairs, reader->first_line, reader->head);
}

/* End the paragraph under way and make ready for the next. */
static void close_paragraph(Reader *reader) {
    if (reader->first_line == 0)
        return;
    if (reader->kind == KIND_REGISTRATION)
        close_registration(reader);
    else if (reader->kind == KIND_ORGANISATION)
        close_organisation(reader);
    memset(reader->values, 0, sizeof reader->values);
    reader->first_line = 0;
    reader->holder = EVIDENCE_NONE;
    reader->has_junk = false;
    reader->address_count = 0;
    reader->scratch_used = 0;
}

/* Start a paragraph by its first line; return whether the rest of it matters. */
static bool open_paragraph(Reader *reader, Span text, Key key) {
    reader->first_line = reader->line;
    reader->head = text;
    reader->kind = key.kind;
    if (!key.is_attribute || is_continuation(*text.at)) {
        reader->kind = KIND_UNKNOWN;
        refuse(reader->sheet, FATE_UNKNOWN, REASON_NO_ATTRIBUTE, reader->line, text);
    } else if (key.kind == KIND_OTHER) {
        refuse(reader->sheet, FATE_SKIPPED, REASON_OTHER_CLASS, reader->line, text);
    } else if (key.kind == KIND_UNKNOWN) {
        refuse(reader->sheet, FATE_UNKNOWN, REASON_UNKNOWN_CLASS, reader->line, text);
    } else if (key.kind == KIND_ORGANISATION) {
        reader->holder = key.field == FIELD_ORGID ? EVIDENCE_ORGID : EVIDENCE_ORG;
    }
    return reader->kind == KIND_REGISTRATION || reader->kind == KIND_ORGANISATION;
}

/* Read one line that is neither blank nor comment; `rest` is already behind it. */
static inline void take_line(Reader *reader, const Line *line) {
    Key key = read_key(line);
    bool is_first = reader->first_line == 0;
    if (is_first) {
        bool matters = open_paragraph(reader, line->text, key);
        reader->line++;
        if (!matters) {
            skip_paragraph(reader);
            return;
        }
    } else {
        reader->line++;
        reader->has_junk |= !key.is_attribute;
        if (key.field == FIELD_NONE || is_set(reader->values[key.field])) { /* of no use, or known already */
            skip_continuations(reader);
            return;
        }
    }
    Span value = trim(span_of(line->value, line->text.end));
    bool may_have_comment = line->may_have_comment;
    if (is_continuation(peek(reader->rest)) || is_comment(peek(reader->rest))) {
        value = join_lines(reader, value);
        may_have_comment = true;
    }
    if (is_first && reader->kind == KIND_ORGANISATION) {
        value = cut_comment(value);
        reader->values[FIELD_HANDLE] = is_empty(value) ? NO_SPAN : value;
    } else if (key.field != FIELD_NONE) {
        take(reader, key.field, value, may_have_comment);
    }
}

/* Read whole paragraphs; what they say is appended to the sheet. Lines are counted from 1. */
void read_paragraphs(Sheet *sheet, Span chunk, unsigned default_registry) {
    Reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        sheet->is_out_of_memory = true;
        return;
    }
    reader->sheet = sheet;
    reader->rest = chunk;
    reader->line = 1;
    reader->default_registry = default_registry;
    reader->scratch_size = 2 * (size_t)span_size(chunk) + 64;
    while (!is_empty(reader->rest)) {
        Line line = line_at(reader->rest.at, reader->rest.end);
        reader->rest.at = line.next;
        if (is_blank_line(line.text)) {
            close_paragraph(reader);
            reader->line++;
        } else if (is_comment(*line.text.at)) {
            reader->line++;
        } else {
            take_line(reader, &line);
        }
    }
    close_paragraph(reader);
    sheet->lines += reader->line - 1;
    free(reader->scratch);
    free(reader);
}
