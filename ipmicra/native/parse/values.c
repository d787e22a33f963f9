/* Readers of single values. Each takes a span and reads nothing outside of it; those that take a pointer to a
 * span move its start behind what they read. */

#include "values.h"

#include "../vocabulary.h"

/* Read decimal digits; -1 if there are none or more than `longest`. */
int64_t read_number(Span *span, int longest) {
    int64_t value = 0;
    int count = 0;
    while (!is_empty(*span) && is_digit(*span->at)) {
        if (count == longest)
            return -1;
        value = value * 10 + (*span->at - '0');
        span->at++;
        count++;
    }
    return count ? value : -1;
}

/* Read up to four bytes as a little-endian word; bytes behind the end count as 0. */
static inline uint32_t load_four(Span span) {
    ptrdiff_t size = span_size(span);
    uint32_t word = 0;
    if (size >= 4)
        memcpy(&word, span.at, 4);
    else if (size > 0)
        word = span.at[0] | (uint32_t)span.at[size > 1] << 8 * (size > 1) | (uint32_t)span.at[size - 1] << 8 * (size - 1);
    return word;
}

/* Count the decimal digits at the start of a little-endian word, up to 4. */
static inline unsigned leading_digits(uint32_t word) {
    uint32_t values = word ^ 0x30303030u; /* a digit becomes 0 to 9, anything else more */
    uint32_t others = (values | (values + 0x06060606u)) & 0xF0F0F0F0u;
    return others ? (unsigned)__builtin_ctz(others) >> 3 : 4;
}

/* Read one to four octets: `190.190/15` is 190 << 24 | 190 << 16 of two octets.
 *
 * The number of digits is as good as random, so it decides no branch: the digits are shifted until the last of them
 * is the third byte, and zeros fill the front. A carry of the addition above can only come from a byte of 0xFA and
 * more, which is no digit itself; what is behind the first such byte does not count. */
Octets read_octets(Span *span) {
    Octets read = {0, 0, false, false};
    for (;;) {
        uint32_t word = load_four(*span);
        unsigned digits = leading_digits(word);
        if (digits == 0 || digits > 3)
            return (Octets){0, 0, false, false};
        uint32_t packed = (word & 0x0F0F0F0Fu) << 8 * (3 - digits);
        uint32_t octet = 100 * (packed & 0xFF) + 10 * (packed >> 8 & 0xFF) + (packed >> 16 & 0xFF);
        read.has_leading_zero |= digits > 1 && *span->at == '0';
        read.is_too_large |= octet > 255;
        read.value |= (octet & 255) << (24 - 8 * read.octets);
        span->at += digits;
        read.octets++;
        if (read.octets == 4 || peek(*span) != '.')
            return read;
        span->at++;
    }
}

/* Return the value of a hexadecimal digit, -1 for anything else.
 *
 * Figure or letter is as good as random, so it decides no branch: '7' is 0x37 and gives 7, 'b' is 0x62 and 'B' 0x42,
 * whose low four bits are 2 and which have bit 6 set. */
static inline int hex_digit(uint8_t byte) {
    bool is_hex = ((unsigned)byte - '0' < 10) | (((unsigned)byte | 0x20) - 'a' < 6);
    return is_hex ? (byte & 15) + 9 * (byte >> 6) : -1;
}

/* Read four hexadecimal digits at a time; -1 if one of them is none.
 *
 * In each byte `2a0F` becomes 2, 10, 0, 15 as in `hex_digit`: `letter` has a 1 for letters. A byte is a digit if its
 * upper half is that of figures (3) or folded letters (6) and its value that of a figure (6 more do not carry into
 * the upper half) or a letter (6 more do, and it is itself below 16). */
static inline int read_four_digits(uint32_t word) {
    const uint32_t ones = 0x01010101u;
    uint32_t folded = word | 0x20 * ones, letter = folded >> 6 & ones;
    uint32_t value = (folded & 0x0F * ones) + 9 * letter;
    uint32_t bad = (folded & 0xF0 * ones) ^ (0x30 * ones + 0x30 * letter);
    bad |= (value & 0x10 * ones) | (((value + 6 * ones) >> 4 & ones) ^ letter);
    bad |= ~word >> 5 & (ones ^ letter); /* a control character that folding made a figure of */
    uint32_t pairs = (value << 4 | value >> 8) & 0x00FF00FFu;
    return bad ? -1 : (int)((pairs & 0xFF) << 8 | pairs >> 16);
}

/* Read one to four hexadecimal digits; -1 if there are none or more. */
static inline int read_group(Span *span) {
    int value = 0, count = 0, digit;
    if (span_size(*span) >= 4) { /* most groups have all four */
        uint32_t word;
        memcpy(&word, span->at, 4);
        value = read_four_digits(word);
        if (value >= 0 && (span_size(*span) == 4 || hex_digit(span->at[4]) < 0)) {
            span->at += 4;
            return value;
        }
        value = 0;
    }
    while (!is_empty(*span) && (digit = hex_digit(*span->at)) >= 0) {
        if (count == 4)
            return -1;
        value = value << 4 | digit;
        span->at++;
        count++;
    }
    return count ? value : -1;
}

/* Put the groups behind the `::` at the end and pack all eight into two words. */
static Wide join_groups(const uint16_t groups[8], int count, int gap) {
    uint64_t words[8] = {0};
    int before = gap < 0 ? count : gap;
    for (int i = 0; i < before; i++)
        words[i] = groups[i];
    for (int i = 0; i < count - before; i++)
        words[7 - i] = groups[count - 1 - i];
    return (Wide){words[0] << 48 | words[1] << 32 | words[2] << 16 | words[3],
                  words[4] << 48 | words[5] << 32 | words[6] << 16 | words[7]};
}

/* Read an IPv6 address in hexadecimal groups; return whether there is one. */
bool read_ipv6(Span *span, Wide *address) {
    uint16_t groups[8];
    int count = 0, gap = -1;
    if (span_size(*span) >= 2 && span->at[0] == ':' && span->at[1] == ':') {
        gap = 0;
        span->at += 2;
    }
    while (!is_empty(*span) && hex_digit(*span->at) >= 0) {
        int value = read_group(span);
        if (value < 0 || count == 8)
            return false;
        groups[count++] = (uint16_t)value;
        if (peek(*span) != ':')
            break;
        span->at++;
        if (peek(*span) == ':') {
            if (gap >= 0)
                return false;
            gap = count;
            span->at++;
        } else if (is_empty(*span) || hex_digit(*span->at) < 0) {
            return false;
        }
    }
    if (gap < 0 ? count != 8 : count > 7)
        return false;
    *address = join_groups(groups, count, gap);
    return true;
}

/* Step over blanks, a dash and blanks; return whether there was a dash. */
static bool skip_dash(Span *span) {
    while (!is_empty(*span) && is_blank(*span->at))
        span->at++;
    if (peek(*span) != '-')
        return false;
    span->at++;
    while (!is_empty(*span) && is_blank(*span->at))
        span->at++;
    return true;
}

static inline Verdict skipped(unsigned reason) { return (Verdict){reason, 0}; }

/* Read the prefix length behind an IPv4 address. */
static Verdict read_length4(Span span, Octets address, unsigned repairs, uint32_t range[2]) {
    int64_t length = read_number(&span, 3);
    if (length < 0 || !is_empty(span))
        return skipped(REASON_BAD_RANGE);
    if (address.is_too_large || length > 32)
        return skipped(REASON_OUT_OF_RANGE);
    uint32_t host = length == 32 ? 0 : UINT32_MAX >> length;
    if (address.value & host)
        repairs |= REPAIR(REASON_HOST_BITS);
    range[0] = address.value & ~host;
    range[1] = address.value | host;
    return (Verdict){0, repairs};
}

/* Read `a.b.c.d - e.f.g.h`, a prefix or a single address. */
Verdict read_range4(Span span, uint32_t range[2]) {
    Octets first = read_octets(&span);
    unsigned repairs = first.has_leading_zero ? REPAIR(REASON_LEADING_ZERO) : 0;
    if (first.octets == 0)
        return skipped(REASON_BAD_RANGE);
    if (is_empty(span)) {
        if (first.octets < 4)
            return skipped(REASON_BAD_RANGE);
        range[0] = range[1] = first.value;
        return (Verdict){first.is_too_large ? REASON_OUT_OF_RANGE : 0, repairs | REPAIR(REASON_SINGLE_ADDRESS)};
    }
    if (*span.at == '/')
        return read_length4(span_of(span.at + 1, span.end), first, repairs, range);
    if (!skip_dash(&span) || first.octets < 4)
        return skipped(REASON_BAD_RANGE);
    Octets last = read_octets(&span);
    if (last.octets < 4 || !is_empty(span))
        return skipped(REASON_BAD_RANGE);
    if (first.is_too_large || last.is_too_large)
        return skipped(REASON_OUT_OF_RANGE);
    if (last.has_leading_zero)
        repairs |= REPAIR(REASON_LEADING_ZERO);
    bool is_reversed = last.value < first.value;
    range[0] = is_reversed ? last.value : first.value;
    range[1] = is_reversed ? first.value : last.value;
    return (Verdict){0, is_reversed ? repairs | REPAIR(REASON_REVERSED) : repairs};
}

/* Read a prefix length; the range is what it makes of an address. */
Verdict read_length6(Span span, Wide address, Wide range[2]) {
    int64_t length = read_number(&span, 3);
    if (length < 0 || !is_empty(span))
        return skipped(REASON_BAD_RANGE);
    if (length > 128)
        return skipped(REASON_OUT_OF_RANGE);
    Wide host = {length >= 64 ? 0 : UINT64_MAX >> length,
                 length <= 64 ? UINT64_MAX : length < 128 ? UINT64_MAX >> (length - 64) : 0};
    bool has_host_bits = (address.high & host.high) | (address.low & host.low);
    range[0] = (Wide){address.high & ~host.high, address.low & ~host.low};
    range[1] = (Wide){address.high | host.high, address.low | host.low};
    return (Verdict){0, has_host_bits ? REPAIR(REASON_HOST_BITS) : 0};
}

/* Read an IPv6 range, prefix or single address. */
Verdict read_range6(Span span, Wide range[2]) {
    Wide first, last;
    if (!read_ipv6(&span, &first))
        return skipped(REASON_BAD_RANGE);
    range[0] = range[1] = first;
    if (is_empty(span))
        return (Verdict){0, REPAIR(REASON_SINGLE_ADDRESS)};
    if (*span.at == '/')
        return read_length6(span_of(span.at + 1, span.end), first, range);
    if (!skip_dash(&span) || !read_ipv6(&span, &last) || !is_empty(span))
        return skipped(REASON_BAD_RANGE);
    bool is_reversed = last.high < first.high || (last.high == first.high && last.low < first.low);
    range[0] = is_reversed ? last : first;
    range[1] = is_reversed ? first : last;
    return (Verdict){0, is_reversed ? REPAIR(REASON_REVERSED) : 0};
}

/* Count the days since 1969-12-31; 0 for a date that does not exist or fit.
 *
 * 1970-01-01 is 1. Years are shifted to start in March, so that leap days come last. */
static unsigned days_of(int year, int month, int day) {
    if (year < 1970 || year > 2148 || month < 1 || month > 12 || day < 1)
        return 0;
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    int longest = month == 2 ? 28 + is_leap : 30 + ((0x15AA >> month) & 1);
    if (day > longest)
        return 0;
    int shifted = month <= 2 ? year - 1 : year;
    int in_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return (unsigned)(shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + in_year - 719468 + 1);
}

/* Read exactly so many decimal digits, all of which the caller knows to be inside its span; -1 if one is none. */
static int read_digits(const uint8_t *at, int count) {
    int value = 0;
    for (int i = 0; i < count; i++) {
        if (!is_digit(at[i]))
            return -1;
        value = value * 10 + (at[i] - '0');
    }
    return value;
}

/* Read `YYYY-MM-DD…` or a last word `YYYYMMDD` as days since 1969-12-31; 0 if it is neither. */
unsigned read_date(Span span) {
    if (span_size(span) >= 10 && span.at[4] == '-' && span.at[7] == '-') {
        unsigned days =
            days_of(read_digits(span.at, 4), read_digits(span.at + 5, 2), read_digits(span.at + 8, 2));
        if (days)
            return days;
    }
    const uint8_t *word = span.end;
    while (word > span.at && !is_blank(word[-1]))
        word--;
    if (span.end - word != 8)
        return 0;
    return days_of(read_digits(word, 4), read_digits(word + 4, 2), read_digits(word + 6, 2));
}

/* Pack two letters, upper-cased, as first << 8 | second; 0 if it is anything else. */
unsigned read_country(Span span) {
    if (span_size(span) != 2)
        return 0;
    unsigned first = span.at[0] & ~0x20u, second = span.at[1] & ~0x20u;
    bool are_letters = first >= 'A' && first <= 'Z' && second >= 'A' && second <= 'Z';
    return are_letters ? first << 8 | second : 0;
}

/* Return the first word behind `geofeed` and perhaps a colon; an empty span if the value does not start so. */
Span read_geofeed(Span span) {
    static const char word[] = "geofeed";
    const size_t size = sizeof word - 1;
    Span nothing = span_of(span.at, span.at);
    if (!starts_with_folded(span, word, size))
        return nothing;
    span.at += size;
    if (!is_empty(span) && !is_blank(*span.at) && *span.at != ':')
        return nothing;
    span = trim(span);
    if (peek(span) == ':')
        span = trim(span_of(span.at + 1, span.end));
    const uint8_t *behind = span.at;
    while (behind < span.end && !is_blank(*behind))
        behind++;
    return span_of(span.at, behind);
}

/* Read the value of `source:` up to a blank, `#` or `-`: the code of a registry. */
unsigned read_source(Span span, unsigned fallback) {
    ptrdiff_t size = 0;
    while (size < span_size(span) && size < 9) {
        uint8_t byte = span.at[size];
        if (is_blank(byte) || byte == '#' || byte == '-')
            break;
        size++;
    }
    if (size == 0 || size > 7)
        return fallback;
    uint64_t head = fold_word(load_word(span.at, span.end));
    for (size_t i = 0; i < SOURCE_COUNT; i++)
        if (((head ^ SOURCES[i].head) & SOURCES[i].mask) == 0 && SOURCES[i].size == (size_t)size &&
            starts_with_folded(span_of(span.at, span.at + size), SOURCES[i].name, SOURCES[i].size))
            return SOURCES[i].code;
    return fallback;
}

/* Return whether a maintainer is a registry's own and names no holder. */
bool is_registry_maintainer(Span span) {
    uint64_t head = fold_word(load_word(span.at, span.end));
    for (size_t i = 0; i < MAINTAINER_COUNT; i++)
        if (((head ^ MAINTAINERS[i].head) & MAINTAINERS[i].mask) == 0 &&
            starts_with_folded(span, MAINTAINERS[i].name, MAINTAINERS[i].size))
            return true;
    return false;
}
