/* Writing the texts of many subnets as columns of Arrow: what they are called, and their names.
 *
 * As in render.c, what is difficult is left to the twin in Python (`RowTexts` in ipmicra/hierarchy/row_texts.py): both
 * functions stop in front of a text that does not fit, is not ASCII, or does not lie where the file says, and return
 * its place. The caller has checked that edges[at] lies inside of the data.
 *
 * A random row is a wait for memory, so it is asked for some rows before it is needed. */

#include "render.h"
#include "spelling.h"

enum { AHEAD = 24, LONGEST_LABEL = 2 * 40 + 4 };

static uint8_t *write_end(uint8_t *at, Wide address) {
    return is_mapped(address) ? write_narrow(at, (uint32_t)address.low) : write_wide(at, address);
}

/* Write `10.0.0.0/8`, or `10.0.0.1 - 10.0.0.9` for what is no prefix; see `range_text` in ipmicra/model/address.py. */
static uint8_t *write_range(uint8_t *at, const Described *subnet) {
    at = write_end(at, subnet->first);
    if (subnet->prefix >= 0) {
        *at++ = '/';
        return write_small(at, (unsigned)subnet->prefix);
    }
    memcpy(at, " - ", 3);
    return write_end(at + 3, subnet->last);
}

size_t write_labels(const Registrations *from, const uint32_t *rows, size_t count, size_t at, TextColumn out) {
    size_t all = from->rows4 + from->rows6;
    for (; at < count; at++) {
        size_t next = at + AHEAD < count ? rows[at + AHEAD] : 0, place = (size_t)out.edges[at];
        if (next < from->rows4)
            __builtin_prefetch(&from->bounds4[next]);
        else if (next < all)
            __builtin_prefetch(&from->bounds6[next - from->rows4]);
        Described subnet;
        if (rows[at] >= all || out.room - place < LONGEST_LABEL || !read_bounds(from, rows[at], &subnet))
            break;
        out.edges[at + 1] = (int32_t)(write_range(out.data + place, &subnet) - out.data);
    }
    return at;
}

static inline bool is_ascii(Span text) {
    uint8_t bits = 0;
    for (; !is_empty(text); text.at++)
        bits |= *text.at;
    return bits < 0x80;
}

size_t write_names(const Registrations *from, const uint32_t *places, size_t count, size_t at, TextColumn out) {
    size_t size = (size_t)span_size(from->names);
    for (; at < count; at++) {
        size_t next = at + AHEAD < count ? places[at + AHEAD] : 0, place = (size_t)out.edges[at];
        if (next < size)
            __builtin_prefetch(from->names.at + next);
        Span text;
        if (!read_name(from, places[at], &text) || out.room - place < (size_t)span_size(text) || !is_ascii(text))
            break;
        memcpy(out.data + place, text.at, (size_t)span_size(text));
        out.edges[at + 1] = (int32_t)(place + (size_t)span_size(text));
    }
    return at;
}
