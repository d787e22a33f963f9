/* Looking up addresses.
 *
 * Theory of operation
 * -------------------
 * IPv4. The file has the address space cut into segments, each of which belongs to one narrowest subnet, as
 * start << 32 | row in order, and an index over the first bits of an address that gives the row itself or the few
 * segments to search. That serves single look-ups from the first on, without anything to prepare. For arrays a
 * table over the first 24 bits is made once: an entry is the row, marked, or the segment in which its /24 begins.
 *
 * IPv6. The file has the subnets in order. One look-up searches the last that starts at or before the address and
 * climbs to the first ancestor that holds it: about twenty steps. For more look-ups an index is made, see wide.c.
 *
 * Arrays go through in batches, one kind of step at a time: memory for all addresses of a batch is asked for before
 * the first is needed, so that the waits overlap.
 *
 * A file may be damaged anywhere behind its header. Single look-ups check each number before they follow it; the
 * tables are made from sections that were checked as a whole, so what they lead to always exists. */

#include "lookup.h"

#include "../memory.h"

#ifndef TABLE_BITS /* the fuzzer makes smaller tables */
#define TABLE_BITS 24
#endif
static const uint32_t DIRECT = (uint32_t)1 << 31;

/* --- IPv4 */

/* Return the row of the last segment in [low, high] that starts at or before an address; the first does. */
static inline uint32_t search_narrow(const uint64_t *segments, size_t low, size_t high, uint32_t address) {
    uint64_t key = (uint64_t)address << 32 | UINT32_MAX;
    while (low < high) {
        size_t middle = (low + high + 1) >> 1;
        if (segments[middle] <= key)
            low = middle;
        else
            high = middle - 1;
    }
    return (uint32_t)segments[low];
}

/* Look up an address by its entry in the index. */
static inline Soundness row_by_entry(const Lookup *lookup, uint64_t entry, uint32_t address, uint32_t *row) {
    if (entry < lookup->rows4) {
        *row = (uint32_t)entry;
        return SOUND;
    }
    size_t first = entry & UINT32_MAX, more = entry >> 32;
    if (first >= lookup->segment_count || more >= lookup->segment_count - first)
        return BAD_INDEX;
    *row = search_narrow(lookup->segments, first, first + more, address);
    return *row < lookup->rows4 ? SOUND : BAD_INDEX;
}

Soundness row_of_narrow(const Lookup *lookup, uint32_t address, uint32_t *row) {
    /* 2^bits entries; with a single one the shift is 32, so the address is widened */
    unsigned shift = 32 - (unsigned)__builtin_ctzll(lookup->index_size);
    return row_by_entry(lookup, lookup->index[(uint64_t)address >> shift], address, row);
}

/* Look up a batch by the index of the file: no table has to be made, and each number is checked. */
static Soundness index_batch(const Lookup *lookup, const uint32_t *addresses, size_t size, uint32_t *rows) {
    unsigned shift = 32 - (unsigned)__builtin_ctzll(lookup->index_size);
    uint64_t entries[LOOK_UPS];
    Soundness soundness = SOUND;
    for (size_t i = 0; i < size; i++)
        __builtin_prefetch(&lookup->index[(uint64_t)addresses[i] >> shift]);
    for (size_t i = 0; i < size; i++) {
        entries[i] = lookup->index[(uint64_t)addresses[i] >> shift];
        size_t middle = (size_t)(entries[i] & UINT32_MAX) + (entries[i] >> 33);
        if (entries[i] >= lookup->rows4 && middle < lookup->segment_count)
            __builtin_prefetch(&lookup->segments[middle]);
    }
    for (size_t i = 0; i < size && soundness == SOUND; i++)
        soundness = row_by_entry(lookup, entries[i], addresses[i], &rows[i]);
    return soundness;
}

/* Make the table over the first 24 bits, after a look at all segments; it takes 64 MiB. */
Soundness make_table4(Lookup *lookup) {
    const uint64_t *segments = lookup->segments;
    size_t count = lookup->segment_count, size = (size_t)1 << TABLE_BITS, at = 0;
    if (count == 0 || count >= DIRECT || segments[0] >> 32 != 0)
        return BAD_SEGMENTS;
    for (size_t i = 0; i < count; i++)
        if ((i > 0 && segments[i] >> 32 <= segments[i - 1] >> 32) || (uint32_t)segments[i] >= lookup->rows4)
            return BAD_SEGMENTS;
    uint32_t *table = aligned_alloc(size * sizeof *table < HUGE_PAGE ? 64 : HUGE_PAGE, size * sizeof *table);
    if (table == NULL)
        return NO_MEMORY;
    advise_huge(table, size * sizeof *table); /* a random read of small pages waits twice */
    for (size_t bucket = 0; bucket < size; bucket++) {
        uint64_t first = (uint64_t)bucket << (32 - TABLE_BITS), last = first | (((uint64_t)1 << (32 - TABLE_BITS)) - 1);
        while (at + 1 < count && segments[at + 1] >> 32 <= first)
            at++;
        bool is_one = at + 1 == count || segments[at + 1] >> 32 > last;
        table[bucket] = is_one ? (uint32_t)segments[at] | DIRECT : (uint32_t)at;
    }
    lookup->table4 = table;
    return SOUND;
}

/* Return the row of an address by its entry in the table.
 *
 * A /24 that is split mostly has a few segments: those that start at or before the address are counted eight at a
 * time, without a branch that depends on the address. */
static inline uint32_t finish_narrow(const Lookup *lookup, uint32_t entry, uint32_t address) {
    const uint64_t *segments = lookup->segments, key = (uint64_t)address << 32 | UINT32_MAX;
    size_t at = entry, last = lookup->segment_count - 1;
    if (entry & DIRECT)
        return entry & ~DIRECT;
    while (last - at >= 8) {
        size_t more = 0;
        for (size_t i = 1; i <= 8; i++)
            more += segments[at + i] <= key;
        at += more;
        if (more < 8)
            return (uint32_t)segments[at];
    }
    while (at < last && segments[at + 1] <= key)
        at++;
    return (uint32_t)segments[at];
}

static void narrow_batch(const Lookup *lookup, const uint32_t *addresses, size_t size, uint32_t *rows) {
    uint32_t entries[LOOK_UPS];
    for (size_t i = 0; i < size; i++)
        entries[i] = lookup->table4[addresses[i] >> (32 - TABLE_BITS)];
    for (size_t i = 0; i < size; i++)
        if (!(entries[i] & DIRECT)) {
            __builtin_prefetch(&lookup->segments[entries[i]]);
            __builtin_prefetch(&lookup->segments[entries[i]] + 8);
        }
    for (size_t i = 0; i < size; i++)
        rows[i] = finish_narrow(lookup, entries[i], addresses[i]);
}

void rows_of_narrow(const Lookup *lookup, const uint32_t *addresses, size_t count, uint32_t *rows) {
    for (size_t start = 0; start < count; start += LOOK_UPS)
        narrow_batch(lookup, addresses + start, count - start < LOOK_UPS ? count - start : LOOK_UPS, rows + start);
}

/* --- IPv6, one by one */

/* Search the subnets themselves. */
static Soundness row_in_tree(const Lookup *lookup, Wide address, uint32_t *row) {
    size_t low = 0, high = lookup->rows6 - 1;
    while (low < high) {
        size_t middle = (low + high + 1) >> 1;
        if (is_at_most(first_of(lookup, middle), address))
            low = middle;
        else
            high = middle - 1;
    }
    while (low > 0 && !is_at_most(address, last_of(lookup, low))) {
        uint32_t above = lookup->parent6[low];
        if (above < lookup->rows4 || above - lookup->rows4 >= low)
            return BAD_PARENTS;
        low = above - lookup->rows4;
    }
    *row = (uint32_t)(low + lookup->rows4);
    return SOUND;
}

Soundness row_of_wide(const Lookup *lookup, Wide address, uint32_t *row) {
    const WideIndex *wide = &lookup->wide;
    if (is_mapped(address))
        return row_of_narrow(lookup, (uint32_t)address.low, row);
    if (wide->levels == 0)
        return row_in_tree(lookup, address, row);
    *row = row_in_index(wide, address);
    return SOUND;
}

/* Look up addresses of both families; the index of IPv6 has to be made, and IPv4 goes by the table if it is. A mixed
 * batch is sorted by family first. */
Soundness rows_of_wide(const Lookup *lookup, const Wide *addresses, size_t count, uint32_t *rows, Instructions by) {
    for (size_t start = 0; start < count; start += LOOK_UPS) {
        const Wide *batch = addresses + start;
        size_t size = count - start < LOOK_UPS ? count - start : LOOK_UPS, narrow_count = 0, wide_count = 0;
        Wide wides[LOOK_UPS];
        uint32_t narrows[LOOK_UPS], found[LOOK_UPS];
        uint8_t narrow_places[LOOK_UPS], wide_places[LOOK_UPS];
        bool is_mixed = false;
        for (size_t i = 0; i < size; i++)
            is_mixed |= is_mapped(batch[i]);
        if (!is_mixed) {
            rows_in_index(&lookup->wide, batch, size, rows + start, by);
            continue;
        }
        for (size_t i = 0; i < size; i++) {
            bool is_narrow = is_mapped(batch[i]);
            narrows[narrow_count] = (uint32_t)batch[i].low;
            narrow_places[narrow_count] = wide_places[wide_count] = (uint8_t)i;
            wides[wide_count] = batch[i];
            narrow_count += is_narrow;
            wide_count += !is_narrow;
        }
        if (lookup->table4 != NULL)
            narrow_batch(lookup, narrows, narrow_count, found);
        else if (index_batch(lookup, narrows, narrow_count, found) != SOUND)
            return BAD_INDEX;
        for (size_t i = 0; i < narrow_count; i++)
            rows[start + narrow_places[i]] = found[i];
        rows_in_index(&lookup->wide, wides, wide_count, found, by);
        for (size_t i = 0; i < wide_count; i++)
            rows[start + wide_places[i]] = found[i];
    }
    return SOUND;
}

void free_lookup(Lookup *lookup) {
    free(lookup->table4);
    lookup->table4 = NULL;
    free_wide(&lookup->wide);
}

/* --- text */

/* Read four octets as `inet_pton` does: no leading zeros, nothing else. */
static inline bool read_dotted(Span text, uint32_t *address) {
    uint32_t value = 0;
    for (int octet = 0; octet < 4; octet++) {
        unsigned number = 0;
        int digits = 0;
        while (!is_empty(text) && is_digit(*text.at)) {
            if (digits == 3 || (digits == 1 && number == 0))
                return false;
            number = number * 10 + (*text.at++ - '0');
            digits++;
        }
        if (digits == 0 || number > 255)
            return false;
        value = value << 8 | number;
        if (octet < 3 && (is_empty(text) || *text.at++ != '.'))
            return false;
    }
    *address = value;
    return is_empty(text);
}

bool read_address(Span text, Wide *address) {
    uint32_t narrow;
    if (read_dotted(text, &narrow)) {
        *address = (Wide){0, (uint64_t)0xFFFF << 32 | narrow};
        return true;
    }
    return read_ipv6(&text, address) && is_empty(text);
}
