/* Writing what look-ups found: a line of CSV with the narrowest subnet, or of JSON with the whole lineage.
 *
 * Theory of operation
 * -------------------
 * The lines are those of `LineageDescriber` in ipmicra/app/describe/hierarchy.py, byte for byte. But all that is
 * difficult is left to it: a text that would have to be escaped, an address that versions of Python print
 * differently, a number in the file that leads nowhere. Then the line is taken back and rendering stops in front of
 * its target, which the caller renders by the twin in Python, or gets the error that it raises. Hence the rules of
 * escaping are not repeated here; there is only a test for texts that need none: printable ASCII without what has a
 * meaning in the format.
 *
 * Reads go through subnets.c, which checks every number before it is followed. Writes go through `reserve`, which
 * refuses what has no room; a refused or odd line is taken back as a whole.
 *
 * A random address is a wait for memory in each of ten columns, and for what these point to. So targets go through
 * in batches, one kind of wait at a time: memory for all of a batch is asked for before the first is needed. */

#include "render.h"

#include "../memory.h"
#include "spelling.h"

enum { LONGEST_ADDRESS = 40 };

/* A line that is being written. */
typedef struct {
    uint8_t *at;
    uint8_t *end;
    bool is_refused; /* there is no room for it, or it is not for us */
} Line;

/* Return whether there is room for some bytes; if not, the line is refused. */
static inline bool reserve(Line *line, size_t size) {
    if (line->is_refused || (size_t)(line->end - line->at) < size) {
        line->is_refused = true;
        return false;
    }
    return true;
}

static inline void put(Line *line, const void *bytes, size_t size) {
    if (size > 0 && reserve(line, size)) {
        memcpy(line->at, bytes, size);
        line->at += size;
    }
}

#define PUT(line, word) put(line, word, sizeof(word) - 1)

/* --- numbers and addresses */

/* Write an address of either family; IPv4 comes as IPv4-mapped IPv6. */
static void put_address(Line *line, Wide address) {
    if (reserve(line, LONGEST_ADDRESS))
        line->at = is_mapped(address) ? write_narrow(line->at, (uint32_t)address.low) : write_wide(line->at, address);
}

/* Write days after 1969-12-31 as a date. Years are shifted to start in March, so that leap days come last. */
static void put_date(Line *line, unsigned days) {
    if (!reserve(line, 10))
        return;
    unsigned from_era = days - 1 + 719468 - 4 * 146097; /* days since 1600-03-01 */
    unsigned era = from_era / 146097, day = from_era % 146097;
    unsigned year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    unsigned in_year = day - (365 * year + year / 4 - year / 100);
    unsigned shifted = (5 * in_year + 2) / 153;
    unsigned month = shifted < 10 ? shifted + 3 : shifted - 9;
    unsigned numbers[3] = {1600 + 400 * era + year + (month <= 2), month, in_year - (153 * shifted + 2) / 5 + 1};
    uint8_t *at = line->at;
    *at++ = (uint8_t)('0' + numbers[0] / 1000);
    *at++ = (uint8_t)('0' + numbers[0] / 100 % 10);
    *at++ = (uint8_t)('0' + numbers[0] / 10 % 10);
    *at++ = (uint8_t)('0' + numbers[0] % 10);
    for (int i = 1; i < 3; i++) {
        *at++ = '-';
        *at++ = (uint8_t)('0' + numbers[i] / 10);
        *at++ = (uint8_t)('0' + numbers[i] % 10);
    }
    line->at = at;
}

/* --- CSV */

/* Write a text in quotes, with those in it doubled. */
static void put_quoted(Line *line, Span text) {
    if (!reserve(line, 2 * (size_t)span_size(text) + 2))
        return;
    uint8_t *at = line->at;
    *at++ = '"';
    for (; !is_empty(text); text.at++) {
        *at++ = *text.at;
        if (*text.at == '"')
            *at++ = '"';
    }
    *at++ = '"';
    line->at = at;
}

static inline bool is_odd_start(uint8_t byte) {
    return byte == '\'' || byte == '=' || byte == '+' || byte == '-' || byte == '@' || byte == '#' || byte == ' ';
}

/* Write a text as a cell if it needs no escape; see `_cell` and `_escape` in ipmicra/model/foreign_text.py. */
static void put_cell(Line *line, Span text) {
    unsigned kinds = kinds_in(text);
    if (!is_empty(text) && ((kinds & ODD) || is_odd_start(*text.at) || text.end[-1] == ' '))
        line->is_refused = true;
    if (kinds & NEEDS_QUOTES)
        put_quoted(line, text);
    else
        put(line, text.at, (size_t)span_size(text));
    PUT(line, ",");
}

static void put_csv(Line *line, const Described *subnet) {
    const uint8_t *first = line->at;
    put_address(line, subnet->first);
    size_t size = (size_t)(line->at - first);
    PUT(line, ",");
    put_address(line, subnet->last);
    PUT(line, ",");
    if (subnet->prefix >= 0 && reserve(line, LONGEST_ADDRESS + 4)) {
        memcpy(line->at, first, size);
        line->at += size;
        *line->at++ = '/';
        line->at = write_small(line->at, (unsigned)subnet->prefix);
    }
    PUT(line, ",");
    put_cell(line, subnet->netname);
    put(line, subnet->registry.at, (size_t)span_size(subnet->registry));
    PUT(line, ",");
    put_cell(line, span_of(subnet->country, subnet->country + (subnet->has_country ? 2 : 0)));
    put_cell(line, subnet->status);
    if (reserve(line, 3))
        line->at = write_small(line->at, subnet->depth);
    PUT(line, ",");
    if (subnet->date)
        put_date(line, subnet->date);
    PUT(line, ",");
    put_cell(line, subnet->geoloc);
    put_cell(line, subnet->geofeed);
    put_cell(line, subnet->postal);
    put_cell(line, subnet->handle);
    put_cell(line, subnet->name);
    if (!line->is_refused)
        line->at[-1] = '\n'; /* in place of the last comma */
}

/* --- JSON */

/* Write a text that needs no escape, `null` for an empty one. */
static void put_string(Line *line, Span text) {
    size_t size = (size_t)span_size(text);
    if (kinds_in(text) & (ODD | ODD_IN_JSON))
        line->is_refused = true;
    if (size == 0) {
        PUT(line, "null");
    } else if (reserve(line, size + 2)) {
        *line->at++ = '"';
        memcpy(line->at, text.at, size);
        line->at += size;
        *line->at++ = '"';
    }
}

static void put_json(Line *line, const Described *subnet) {
    PUT(line, "{\"first\": \"");
    put_address(line, subnet->first);
    PUT(line, "\", \"last\": \"");
    put_address(line, subnet->last);
    if (subnet->prefix < 0) {
        PUT(line, "\", \"prefix\": null");
    } else {
        PUT(line, "\", \"prefix\": \"");
        put_address(line, subnet->first);
        PUT(line, "/");
        if (reserve(line, 4))
            line->at = write_small(line->at, (unsigned)subnet->prefix);
        PUT(line, "\"");
    }
    PUT(line, ", \"netname\": ");
    put_string(line, subnet->netname);
    if (subnet->has_organisation) {
        PUT(line, ", \"organisation\": {\"handle\": ");
        put_string(line, subnet->handle);
        PUT(line, ", \"name\": ");
        put_string(line, subnet->name);
        PUT(line, "}, \"registry\": ");
    } else {
        PUT(line, ", \"organisation\": null, \"registry\": ");
    }
    put_string(line, subnet->registry);
    PUT(line, ", \"country\": ");
    put_string(line, span_of(subnet->country, subnet->country + (subnet->has_country ? 2 : 0)));
    PUT(line, ", \"status\": ");
    put_string(line, subnet->status);
    PUT(line, ", \"depth\": ");
    if (reserve(line, 3))
        line->at = write_small(line->at, subnet->depth);
    if (subnet->date) {
        PUT(line, ", \"date\": \"");
        put_date(line, subnet->date);
        PUT(line, "\", \"geoloc\": ");
    } else {
        PUT(line, ", \"date\": null, \"geoloc\": ");
    }
    put_string(line, subnet->geoloc);
    PUT(line, ", \"geofeed\": ");
    put_string(line, subnet->geofeed);
    PUT(line, ", \"postal_address\": ");
    put_string(line, subnet->postal);
    PUT(line, "}");
}

/* --- targets */

/* Return whether an address was written as four octets, of which there is one spelling. */
static inline bool is_dotted(Span text) {
    for (int i = 0; i < 4 && !is_empty(text); i++, text.at++)
        if (!is_digit(*text.at))
            return *text.at == '.';
    return false;
}

/* Write the cells of a target: its text, and its address. */
static void put_target(Line *line, Span text, Wide address) {
    const uint8_t *start = line->at;
    put_cell(line, text);
    if (is_mapped(address) && is_dotted(text)) {
        put(line, start, (size_t)span_size(text) + 1); /* once more, with its comma */
        return;
    }
    put_address(line, address);
    PUT(line, ",");
}

static void put_narrowest(Line *line, const Registrations *from, Span text, Wide address, const Lineage *lineage) {
    Described subnet;
    if (lineage->count == 0 || !read_subnet(from, lineage->rows[0], lineage->count - 1, &subnet)) {
        line->is_refused = true;
        return;
    }
    put_target(line, text, address);
    put_csv(line, &subnet);
}

static void put_lineage(Line *line, const Registrations *from, Span text, Wide address, const Lineage *lineage) {
    line->is_refused |= lineage->count == 0;
    PUT(line, "{\"target\": ");
    put_string(line, text);
    PUT(line, ", \"address\": \"");
    put_address(line, address);
    PUT(line, "\", \"lineage\": [");
    for (unsigned depth = 0; depth < lineage->count && !line->is_refused; depth++) {
        Described subnet;
        if (!read_subnet(from, lineage->rows[lineage->count - 1 - depth], depth, &subnet)) {
            line->is_refused = true;
            return;
        }
        if (depth > 0)
            PUT(line, ", ");
        put_json(line, &subnet);
    }
    PUT(line, "]}\n");
}

/* Ask for the columns of a row. */
static inline void touch_row(const Registrations *from, size_t row) {
    if (row < from->rows4)
        touch(&from->bounds4[row]);
    else
        touch(&from->bounds6[row - from->rows4]);
    touch(&from->organisation[row]);
    touch(&from->netname[row]);
    touch((const uint8_t *)from->country.data + row * from->country.width);
    touch((const uint8_t *)from->status.data + row * from->status.width);
    touch(&from->registry[row]);
    touch(&from->date[row]);
    if (from->notes != NULL)
        touch(&from->notes[row]);
}

/* Say how deep some rows lie, without the rows above them. */
static void note_depths(const Registrations *from, const uint32_t *rows, size_t count, Lineage *lineages) {
    for (size_t i = 0; i < count; i++) {
        bool is_sound = rows[i] < from->rows4 + from->rows6 && !(from->notes[rows[i]] & HAS_NO_LINEAGE);
        lineages[i].rows[0] = rows[i];
        lineages[i].count = is_sound ? 1u + (from->notes[rows[i]] & NOTED_DEPTH) : 0;
    }
}

/* Climb from some rows, and ask for the memory that describing them needs. */
static void prepare(const Registrations *from, const uint32_t *rows, size_t count, LineForm form, Lineage *lineages) {
    size_t all = from->rows4 + from->rows6;
    for (size_t i = 0; i < count; i++)
        if (rows[i] < all)
            touch_row(from, rows[i]);
    if (form == AS_CSV && from->notes != NULL)
        note_depths(from, rows, count, lineages);
    else
        climb_many(from, rows, count, lineages);
    for (size_t i = 0; i < count; i++) {
        if (rows[i] >= all)
            continue;
        uint32_t name = from->netname[rows[i]], number = from->organisation[rows[i]];
        if (name < (size_t)span_size(from->names))
            touch(from->names.at + name);
        if (number > 0 && number <= from->organisation_count)
            touch(&from->organisation_at[number - 1]);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t number = rows[i] < all ? from->organisation[rows[i]] : 0;
        if (number == 0 || number > from->organisation_count)
            continue;
        size_t place = from->organisation_at[number - 1];
        if (place < (size_t)span_size(from->organisations))
            touch(from->organisations.at + place);
    }
}

/* Write the lines of targets from a place on, until one is not for us or has no room; return where that is. */
size_t render_lines(const Registrations *from, const Targets *targets, size_t at, LineForm form, uint8_t *out,
                    size_t room, size_t *written) {
    Line line = {out, out + room, false};
    Lineage lineages[CLIMBERS];
    int64_t size = span_size(targets->text);
    *written = 0;
    for (size_t start = at; at < targets->count; at++) {
        size_t left = targets->count - at, place = (at - start) % CLIMBERS;
        if (place == 0)
            prepare(from, targets->rows + at, left < CLIMBERS ? left : CLIMBERS, form, lineages);
        const int64_t *edges = targets->edges[at];
        if (edges[0] < 0 || edges[0] > edges[1] || edges[1] > size)
            break;
        Span text = span_of(targets->text.at + edges[0], targets->text.at + edges[1]);
        if (form == AS_CSV)
            put_narrowest(&line, from, text, targets->words[at], &lineages[place]);
        else
            put_lineage(&line, from, text, targets->words[at], &lineages[place]);
        if (line.is_refused)
            break;
        *written = (size_t)(line.at - out);
    }
    return at;
}

/* Read lines from a place on, as long as each is an address and nothing else; return how many, and where that stopped.
 *
 * The last line must have its end too. */
size_t read_lines(Span text, size_t *at, int64_t (*edges)[2], Wide *words, size_t room) {
    size_t count = 0;
    for (const uint8_t *start = text.at + *at; count < room; count++) {
        const uint8_t *end = find_byte(start, text.end, '\n');
        if (end == text.end)
            break;
        Span line = span_of(start, end > start && end[-1] == '\r' ? end - 1 : end);
        if (!read_address(line, &words[count]))
            break;
        edges[count][0] = line.at - text.at;
        edges[count][1] = line.end - text.at;
        start = end + 1;
        *at = (size_t)(start - text.at);
    }
    return count;
}
