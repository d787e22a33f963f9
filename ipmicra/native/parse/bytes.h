/* Spans of bytes and searches in them: the only way in which the parser reads.
 *
 * Theory of operation
 * -------------------
 * A Span is a pair of pointers into one buffer, `at` (the next byte) and `end` (behind the last). Every function
 * here compares the two before it reads, so nothing outside a span is ever touched, whatever the text says; no
 * buffer needs padding or a sentinel. Searches compare sixteen bytes at a time where sixteen are left (SSE2 is
 * part of x86-64; elsewhere eight in a word) and fall back to single bytes at the end of a span.
 */
#ifndef IPMICRA_BYTES_H
#define IPMICRA_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

typedef struct {
    const uint8_t *at;
    const uint8_t *end;
} Span;

static const Span NO_SPAN = {NULL, NULL};

static inline Span span_of(const uint8_t *at, const uint8_t *end) { return (Span){at, end}; }

static inline ptrdiff_t span_size(Span span) { return span.end - span.at; }

static inline bool is_empty(Span span) { return span.at >= span.end; }

/* Return whether a span was set at all; an empty value is set too. */
static inline bool is_set(Span span) { return span.end != NULL; }

static inline bool is_blank(uint8_t byte) { return byte == ' ' || byte == '\t'; }

static inline bool is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

/* Return the first byte of a span, -1 where it is empty. */
static inline int peek(Span span) { return is_empty(span) ? -1 : *span.at; }

/* Read up to eight bytes as a little-endian word; bytes behind the end count as 0. */
static inline uint64_t load_word(const uint8_t *at, const uint8_t *end) {
    uint64_t word = 0;
    if (end - at >= 8)
        memcpy(&word, at, 8);
    else if (at < end)
        memcpy(&word, at, (size_t)(end - at));
    return word;
}

#if defined(__SSE2__)
/* Set bit i where byte i of the sixteen at a place equals the wanted one. */
static inline unsigned match16(const uint8_t *at, uint8_t byte) {
    __m128i lanes = _mm_loadu_si128((const __m128i *)at);
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(lanes, _mm_set1_epi8((char)byte)));
}
#define LANES 16
#else
/* The same for eight bytes in a word: bit 8·i + 7 is set for a match; exact up to the first match. */
static inline uint64_t match8(const uint8_t *at, uint8_t byte) {
    uint64_t word;
    memcpy(&word, at, 8);
    word ^= 0x0101010101010101u * byte;
    return (word - 0x0101010101010101u) & ~word & 0x8080808080808080u;
}
#define LANES 8
#endif

enum { BLOCK = 64 };

/* Set bit i where byte i of the 64 at a place equals the wanted one. */
static inline uint64_t match64(const uint8_t *at, uint8_t byte) {
    uint64_t mask = 0;
#if defined(__SSE2__)
    for (int i = 0; i < BLOCK; i += 16)
        mask |= (uint64_t)match16(at + i, byte) << i;
#else
    for (int i = 0; i < BLOCK; i += 8) {
        const uint64_t low_bits = 0x7F7F7F7F7F7F7F7Fu;
        uint64_t word;
        memcpy(&word, at + i, 8);
        word ^= 0x0101010101010101u * byte;
        word = ~(((word & low_bits) + low_bits) | word | low_bits); /* 0x80 where a byte is 0, exactly */
        mask |= (word >> 7) * 0x0102040810204080u >> 56 << i;
    }
#endif
    return mask;
}

/* Count the spaces at a place where sixteen bytes can be read; at most sixteen. */
static inline int count_spaces(const uint8_t *at) {
#if defined(__SSE2__)
    return __builtin_ctz(~match16(at, ' ') | 1u << 16);
#else
    int count = 0;
    while (count < 16 && at[count] == ' ')
        count++;
    return count;
#endif
}

/* Return the place of the next such byte, `end` if there is none. */
static inline const uint8_t *find_byte(const uint8_t *at, const uint8_t *end, uint8_t byte) {
    while (end - at >= LANES) {
#if defined(__SSE2__)
        unsigned mask = match16(at, byte);
        if (mask)
            return at + __builtin_ctz(mask);
#else
        uint64_t mask = match8(at, byte);
        if (mask)
            return at + (__builtin_ctzll(mask) >> 3);
#endif
        at += LANES;
    }
    while (at < end && *at != byte)
        at++;
    return at;
}

/* Narrow a span by the spaces and tabs at its ends. */
static inline Span trim(Span span) {
    while (!is_empty(span) && is_blank(*span.at))
        span.at++;
    while (!is_empty(span) && is_blank(span.end[-1]))
        span.end--;
    return span;
}

/* Narrow a span to what stands before a `#`, trimmed. */
static inline Span cut_comment(Span span) {
    const uint8_t *hash = find_byte(span.at, span.end, '#');
    return hash == span.end ? span : trim(span_of(span.at, hash));
}

/* Return whether a span is exactly a word. */
static inline bool equals(Span span, const char *word, size_t size) {
    return span_size(span) == (ptrdiff_t)size && memcmp(span.at, word, size) == 0;
}

/* Set in each byte the bit that makes a capital letter small; what else changes is for the caller to tell apart. */
static inline uint64_t fold_word(uint64_t word) { return word | 0x2020202020202020u; }

/* Return whether a span starts with a lower-case word, whatever the case of its own letters. */
static inline bool starts_with_folded(Span span, const char *word, size_t size) {
    if (span_size(span) < (ptrdiff_t)size)
        return false;
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = span.at[i];
        if (byte >= 'A' && byte <= 'Z')
            byte |= 0x20;
        if (byte != (uint8_t)word[i])
            return false;
    }
    return true;
}

#endif
