/* Spelling numbers and addresses, and looking at texts before they are printed. */
#ifndef IPMICRA_SPELLING_H
#define IPMICRA_SPELLING_H

#include "../parse/values.h"

/* --- numbers and addresses; each function returns the place behind, and callers have reserved room */

static inline uint8_t *write_small(uint8_t *at, unsigned number) {
    *at = (uint8_t)('0' + number / 100); /* overwritten unless it counts */
    at += number >= 100;
    *at = (uint8_t)('0' + number / 10 % 10);
    at += number >= 10;
    *at++ = (uint8_t)('0' + number % 10);
    return at;
}

static inline uint8_t *write_narrow(uint8_t *at, uint32_t address) {
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
static inline uint8_t *write_wide(uint8_t *at, Wide address) {
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

/* --- texts */

/* What a byte does to a text in which it is: nothing, or it makes it need quotes in CSV, or more. */
enum { NEEDS_QUOTES = 1, ODD_IN_JSON = 2, ODD = 4 };

static inline unsigned kinds_of_byte(uint8_t byte) {
    if (byte < ' ' || byte > '~')
        return ODD;
    if (byte == '"')
        return NEEDS_QUOTES | ODD_IN_JSON;
    return byte == ',' || byte == ';' || byte == '|' ? NEEDS_QUOTES : byte == '\\' ? ODD_IN_JSON : 0;
}

#if defined(__SSE2__)
/* The same for sixteen bytes at once. */
static inline unsigned kinds_of_block(__m128i bytes) {
#define EQUAL(byte) _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte))
    __m128i odd = _mm_or_si128(_mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')), EQUAL(0x7F)); /* over 127 is negative */
    __m128i quote = EQUAL('"'), backslash = EQUAL('\\');
    __m128i other = _mm_or_si128(_mm_or_si128(EQUAL(','), EQUAL(';')), EQUAL('|'));
#undef EQUAL
    if (_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(odd, quote), _mm_or_si128(backslash, other))) == 0)
        return 0; /* as most are */
    return (_mm_movemask_epi8(odd) ? ODD : 0) | (_mm_movemask_epi8(quote) ? NEEDS_QUOTES | ODD_IN_JSON : 0) |
           (_mm_movemask_epi8(backslash) ? ODD_IN_JSON : 0) | (_mm_movemask_epi8(other) ? NEEDS_QUOTES : 0);
}
#endif

static inline unsigned kinds_in(Span text) {
    unsigned kinds = 0;
#if defined(__SSE2__)
    size_t size = (size_t)span_size(text);
    if (size >= 16) {
        for (; span_size(text) >= 16; text.at += 16)
            kinds |= kinds_of_block(_mm_loadu_si128((const __m128i *)(const void *)text.at));
        return kinds | kinds_of_block(_mm_loadu_si128((const __m128i *)(const void *)(text.end - 16)));
    }
    if (size >= 8) { /* the first eight and the last, some of them twice */
        __m128i first = _mm_loadl_epi64((const __m128i *)(const void *)text.at);
        __m128i last = _mm_loadl_epi64((const __m128i *)(const void *)(text.end - 8));
        return kinds_of_block(_mm_unpacklo_epi64(first, last));
    }
#endif
    for (; !is_empty(text); text.at++)
        kinds |= kinds_of_byte(*text.at);
    return kinds;
}

#endif
