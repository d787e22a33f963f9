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
 * Reads go through subnets.c, which checks every number before it is followed. Writes go through `reserve`, which refuses what has no room; a refused or odd line is taken back as a whole.
 *
 * A random address is a wait for memory in each of ten columns. Rows are known beforehand, so columns are asked for
 * some targets ahead, and what these point to a few targets later. */

#include "render.h"

enum { LONGEST_ADDRESS = 40, AHEAD = 24 };

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

/* --- numbers and addresses; callers have reserved room */

static inline uint8_t *write_small(uint8_t *at, unsigned number) {
    *at = (uint8_t)('0' + number / 100); /* overwritten unless it counts */
    at += number >= 100;
    *at = (uint8_t)('0' + number / 10 % 10);
    at += number >= 10;
    *at++ = (uint8_t)('0' + number % 10);
    return at;
}

static uint8_t *write_narrow(uint8_t *at, uint32_t address) {
    for (int shift = 24; shift >= 0; shift -= 8) {
        at = write_small(at, address >> shift & 0xFF);
        *at++ = '.';
    }
    return at - 1;
}

static inline uint8_t *write_group(uint8_t *at, unsigned group) {
    static const char digits[] = "0123456789abcdef";
    for (int shift = group > 0xFFF ? 12 : group > 0xFF ? 8 : group > 0xF ? 4 : 0; shift >= 0; shift -= 4)
        *at++ = (uint8_t)digits[group >> shift & 0xF];
    return at;
}

/* Write an IPv6 address; the first of the longest runs of two or more zero groups becomes `::`. */
static uint8_t *write_wide(uint8_t *at, Wide address) {
    unsigned groups[8];
    int best = -1, longest = 1, run = 0;
    for (int i = 0; i < 8; i++) {
        groups[i] = (unsigned)((i < 4 ? address.high : address.low) >> (48 - 16 * (i & 3)) & 0xFFFF);
        run = groups[i] == 0 ? run + 1 : 0;
        if (run > longest) {
            longest = run;
            best = i - run + 1;
        }
    }
    for (int i = 0; i < 8; i++) {
        if (i == best) {
            *at++ = ':';
            *at++ = ':';
            i += longest - 1;
            continue;
        }
        if (i > 0 && i != best + longest)
            *at++ = ':';
        at = write_group(at, groups[i]);
    }
    return at;
}

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

/* Write a text as a cell if it needs no escape; see `_cell` and `_escape` in ipmicra/model/foreign_text.py. */
static void put_cell(Line *line, Span text) {
    size_t size = (size_t)span_size(text);
    bool is_odd = false, is_quoted = false;
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = text.at[i];
        is_odd |= (uint8_t)(byte - ' ') > '~' - ' ';
        is_quoted |= (byte == '"') | (byte == ',') | (byte == ';') | (byte == '|');
    }
    if (size > 0 && (is_odd || strchr("'=+-@# ", text.at[0]) != NULL || text.end[-1] == ' '))
        line->is_refused = true;
    if (!is_quoted) {
        put(line, text.at, size);
    } else if (reserve(line, 2 * size + 2)) {
        uint8_t *at = line->at;
        *at++ = '"';
        for (size_t i = 0; i < size; i++) {
            *at++ = text.at[i];
            if (text.at[i] == '"')
                *at++ = '"';
        }
        *at++ = '"';
        line->at = at;
    }
    PUT(line, ",");
}

static void put_csv(Line *line, const Described *subnet) {
    put_address(line, subnet->first);
    PUT(line, ",");
    put_address(line, subnet->last);
    PUT(line, ",");
    if (subnet->prefix >= 0 && reserve(line, LONGEST_ADDRESS + 4)) {
        put_address(line, subnet->first);
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
    put_cell(line, subnet->handle);
    put_cell(line, subnet->name);
    if (!line->is_refused)
        line->at[-1] = '\n'; /* in place of the last comma */
}

/* --- JSON */

/* Write a text that needs no escape, `null` for an empty one. */
static void put_string(Line *line, Span text) {
    size_t size = (size_t)span_size(text);
    bool is_odd = false;
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = text.at[i];
        is_odd |= ((uint8_t)(byte - ' ') > '~' - ' ') | (byte == '"') | (byte == '\\');
    }
    if (is_odd)
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
    PUT(line, "}");
}

/* --- targets */

static void put_narrowest(Line *line, const Registrations *from, Span text, Wide address, size_t row) {
    uint32_t lineage[MOST_DEPTH];
    Described subnet;
    unsigned count = climb(from, row, lineage);
    if (count == 0 || !read_subnet(from, row, count - 1, &subnet)) {
        line->is_refused = true;
        return;
    }
    put_cell(line, text);
    put_address(line, address);
    PUT(line, ",");
    put_csv(line, &subnet);
}

static void put_lineage(Line *line, const Registrations *from, Span text, Wide address, size_t row) {
    uint32_t lineage[MOST_DEPTH];
    unsigned count = climb(from, row, lineage);
    line->is_refused |= count == 0;
    PUT(line, "{\"target\": ");
    put_string(line, text);
    PUT(line, ", \"address\": \"");
    put_address(line, address);
    PUT(line, "\", \"lineage\": [");
    for (unsigned depth = 0; depth < count && !line->is_refused; depth++) {
        Described subnet;
        if (!read_subnet(from, lineage[count - 1 - depth], depth, &subnet)) {
            line->is_refused = true;
            return;
        }
        if (depth > 0)
            PUT(line, ", ");
        put_json(line, &subnet);
    }
    PUT(line, "]}\n");
}

/* Ask for the columns of a row that is needed soon. */
static inline void prefetch_row(const Registrations *from, size_t row) {
    if (row >= from->rows4 + from->rows6)
        return;
    if (row < from->rows4)
        __builtin_prefetch(&from->bounds4[row]);
    else
        __builtin_prefetch(&from->bounds6[row - from->rows4]);
    __builtin_prefetch(&from->parent[row]);
    __builtin_prefetch(&from->organisation[row]);
    __builtin_prefetch(&from->netname[row]);
    __builtin_prefetch((const uint8_t *)from->country.data + row * from->country.width);
    __builtin_prefetch((const uint8_t *)from->status.data + row * from->status.width);
    __builtin_prefetch(&from->registry[row]);
    __builtin_prefetch(&from->date[row]);
}

/* Ask for what the columns of a row point to; a wrong number is only a useless hint. */
static inline void prefetch_texts(const Registrations *from, size_t row, bool is_last) {
    if (row >= from->rows4 + from->rows6)
        return;
    uint32_t name = from->netname[row], number = from->organisation[row], parent = from->parent[row];
    if (!is_last) {
        if (name < (size_t)span_size(from->names))
            __builtin_prefetch(from->names.at + name);
        if (number > 0 && number <= from->organisation_count)
            __builtin_prefetch(&from->organisation_at[number - 1]);
        if (parent < from->rows4 + from->rows6)
            __builtin_prefetch(&from->parent[parent]);
    } else if (number > 0 && number <= from->organisation_count) {
        size_t place = from->organisation_at[number - 1];
        if (place < (size_t)span_size(from->organisations))
            __builtin_prefetch(from->organisations.at + place);
    }
}

static inline void prefetch_around(const Registrations *from, const Targets *targets, size_t at) {
    if (at + 3 * AHEAD < targets->count)
        prefetch_row(from, targets->rows[at + 3 * AHEAD]);
    if (at + 2 * AHEAD < targets->count)
        prefetch_texts(from, targets->rows[at + 2 * AHEAD], false);
    if (at + AHEAD < targets->count)
        prefetch_texts(from, targets->rows[at + AHEAD], true);
}

/* Write the lines of targets from a place on, until one is not for us or has no room; return where that is. */
size_t render_lines(const Registrations *from, const Targets *targets, size_t at, LineForm form, uint8_t *out,
                    size_t room, size_t *written) {
    Line line = {out, out + room, false};
    int64_t size = span_size(targets->text);
    for (*written = 0; at < targets->count; at++) {
        const int64_t *edges = targets->edges[at];
        if (edges[0] < 0 || edges[0] > edges[1] || edges[1] > size)
            break;
        Span text = span_of(targets->text.at + edges[0], targets->text.at + edges[1]);
        prefetch_around(from, targets, at);
        if (form == AS_CSV)
            put_narrowest(&line, from, text, targets->words[at], targets->rows[at]);
        else
            put_lineage(&line, from, text, targets->words[at], targets->rows[at]);
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
