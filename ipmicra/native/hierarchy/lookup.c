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
 * climbs to the first ancestor that holds it: about twenty steps. For more look-ups the tree is flattened into
 * segments as well, and indexed: a node cuts a stretch of starts into equal buckets, so that subtracting and
 * shifting tells the bucket. The root cuts what is in use, from the first start to the last; a bucket with many
 * starts has a node of its own, cut as fine as it has starts. What is left to search is a handful of segments,
 * except where many share their first 64 bits. Bits alone would not do: registries use a few narrow stretches of
 * the space, and most of a table over the leading bits would be empty.
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
#define ROOT_BITS 16
#endif
enum { BATCH = 64 };
enum { FEW_SEGMENTS = 8, MOST_NODE_BITS = 20 };
static const uint32_t DIRECT = (uint32_t)1 << 31;
static const uint64_t IS_NODE = (uint64_t)1 << 63;

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

Soundness row_of_narrow(const Lookup *lookup, uint32_t address, uint32_t *row) {
    /* 2^bits entries; with a single one the shift is 32, so the address is widened */
    unsigned shift = 32 - (unsigned)__builtin_ctzll(lookup->index_size);
    uint64_t entry = lookup->index[(uint64_t)address >> shift];
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

void rows_of_narrow(const Lookup *lookup, const uint32_t *addresses, size_t count, uint32_t *rows) {
    uint32_t entries[BATCH];
    for (size_t start = 0; start < count; start += BATCH) {
        size_t size = count - start < BATCH ? count - start : BATCH;
        for (size_t i = 0; i < size; i++)
            entries[i] = lookup->table4[addresses[start + i] >> (32 - TABLE_BITS)];
        for (size_t i = 0; i < size; i++)
            if (!(entries[i] & DIRECT)) {
                __builtin_prefetch(&lookup->segments[entries[i]]);
                __builtin_prefetch(&lookup->segments[entries[i]] + 8);
            }
        for (size_t i = 0; i < size; i++)
            rows[start + i] = finish_narrow(lookup, entries[i], addresses[start + i]);
    }
}

/* --- IPv6, one by one */

static inline Wide first_of(const Lookup *lookup, size_t i) {
    return (Wide){lookup->bounds6[i][0], lookup->bounds6[i][1]};
}

static inline Wide last_of(const Lookup *lookup, size_t i) {
    return (Wide){lookup->bounds6[i][2], lookup->bounds6[i][3]};
}

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

/* --- IPv6, by an index */

static inline Wide behind(Wide address) { return (Wide){address.high + (address.low == UINT64_MAX), address.low + 1}; }

/* Append a segment, in place of one that starts at the same address; return whether starts still ascend. */
static bool add_wide(WideIndex *wide, Wide start, size_t row) {
    if (wide->count > 0) {
        Wide last = wide->starts[wide->count - 1];
        if (last.high == start.high && last.low == start.low)
            wide->count--;
        else if (!is_at_most(last, start))
            return false;
    }
    wide->starts[wide->count] = start;
    wide->rows[wide->count++] = (uint32_t)row;
    return true;
}

/* Flatten the tree as nest.c does for IPv4; the end of the space needs no segment. */
static Soundness flatten_wide(const Lookup *lookup, WideIndex *wide) {
    size_t top = 0;
    for (size_t i = 0; i < lookup->rows6; i++) {
        Wide start = first_of(lookup, i);
        if (i == 0 && (start.high | start.low) != 0)
            return BAD_PARENTS;
        while (top != 0 && !is_at_most(start, last_of(lookup, top))) {
            Wide stop = behind(last_of(lookup, top));
            uint32_t above = lookup->parent6[top];
            if (above < lookup->rows4 || above - lookup->rows4 >= top)
                return BAD_PARENTS;
            top = above - lookup->rows4;
            if (!(stop.high == start.high && stop.low == start.low) && !add_wide(wide, stop, top))
                return BAD_PARENTS;
        }
        if (!add_wide(wide, start, i))
            return BAD_PARENTS;
        top = i;
    }
    while (top != 0) {
        Wide stop = behind(last_of(lookup, top));
        uint32_t above = lookup->parent6[top];
        if (above < lookup->rows4 || above - lookup->rows4 >= top)
            return BAD_PARENTS;
        top = above - lookup->rows4;
        if ((stop.high | stop.low) != 0 && !add_wide(wide, stop, top))
            return BAD_PARENTS;
    }
    return SOUND;
}

/* Cut the starts [from, to) into about 2^bits buckets; return whether there was memory. Entries are
 * count << 32 | segment in which a bucket begins. */
static bool add_node(WideIndex *wide, size_t from, size_t to, unsigned bits) {
    uint64_t base = wide->starts[from].high, span = wide->starts[to - 1].high - base;
    unsigned used = span ? 64 - (unsigned)__builtin_clzll(span) : 0;
    unsigned shift = used > bits ? used - bits : 0;
    size_t size = (size_t)(span >> shift) + 1, at = from;
    uint64_t *entries = make_larger(wide->entries, wide->entry_count + size, sizeof *entries);
    if (entries == NULL)
        return false;
    wide->entries = entries;
    WideNode *nodes = realloc(wide->nodes, (wide->node_count + 1) * sizeof *nodes);
    if (nodes == NULL)
        return false;
    wide->nodes = nodes;
    nodes[wide->node_count++] = (WideNode){.base = base,
                                           .entries = (uint32_t)wide->entry_count,
                                           .size = (uint32_t)size,
                                           .before = (uint32_t)(from ? from - 1 : 0),
                                           .shift = (uint8_t)shift};
    for (size_t bucket = 0; bucket < size; bucket++) {
        size_t begin = at;
        while (at < to && (wide->starts[at].high - base) >> shift == bucket)
            at++;
        /* a bucket begins in the segment before its first start, unless that start is its first address */
        bool is_exact = begin < at && wide->starts[begin].high == base + ((uint64_t)bucket << shift) &&
                        wide->starts[begin].low == 0;
        size_t first = is_exact || begin == 0 ? begin : begin - 1;
        entries[wide->entry_count++] = (uint64_t)(at > first + 1 ? at - 1 - first : 0) << 32 | first;
    }
    return true;
}

/* Give each bucket of the root that has many starts a node of its own; return whether there was memory. */
static bool refine(WideIndex *wide) {
    size_t size = wide->nodes[0].size;
    for (size_t bucket = 0; bucket < size; bucket++) {
        size_t first = wide->entries[bucket] & UINT32_MAX, more = wide->entries[bucket] >> 32;
        if (more <= FEW_SEGMENTS)
            continue;
        unsigned bits = 64 - (unsigned)__builtin_clzll(more);
        /* the first may lie in an earlier bucket; its node must not stretch as far back */
        bool is_own = (wide->starts[first].high - wide->nodes[0].base) >> wide->nodes[0].shift == bucket;
        if (!add_node(wide, is_own ? first : first + 1, first + more + 1, bits < MOST_NODE_BITS ? bits : MOST_NODE_BITS))
            return false;
        wide->entries[bucket] = IS_NODE | (wide->node_count - 1);
    }
    return true;
}

static void free_wide(WideIndex *wide) {
    free(wide->starts);
    free(wide->rows);
    free(wide->entries);
    free(wide->nodes);
    memset(wide, 0, sizeof *wide);
}

Soundness make_wide_index(Lookup *lookup) {
    WideIndex wide = {0};
    size_t room = 2 * lookup->rows6 + 2;
    if (lookup->rows6 >= (size_t)1 << 30)
        return NO_MEMORY; /* counts of segments must leave the bit that marks a node */
    wide.starts = make_room(room, sizeof *wide.starts);
    wide.rows = make_room(room, sizeof *wide.rows);
    Soundness soundness = wide.starts == NULL || wide.rows == NULL ? NO_MEMORY : flatten_wide(lookup, &wide);
    if (soundness == SOUND) {
        /* the first segment starts at 0 and mostly belongs to nobody: the root begins behind it */
        size_t from = wide.count > 1 ? 1 : 0;
        if (!add_node(&wide, from, wide.count, ROOT_BITS) || !refine(&wide))
            soundness = NO_MEMORY;
    }
    if (soundness == SOUND) {
        for (size_t i = 0; i < wide.count; i++)
            wide.rows[i] += (uint32_t)lookup->rows4;
        lookup->wide = wide;
    } else {
        free_wide(&wide);
    }
    return soundness;
}

/* Return an address's entry in a node: the segments to search. Below the node's base it is the segment before. */
static inline const uint64_t *entry_of(const WideIndex *wide, const WideNode *node, uint64_t high) {
    uint64_t bucket = (high - node->base) >> node->shift;
    return &wide->entries[node->entries + (bucket < node->size ? bucket : node->size - 1)];
}

/* Search the segments of an entry. */
static inline uint32_t search_wide(const WideIndex *wide, uint64_t entry, Wide address) {
    size_t low = entry & UINT32_MAX, high = low + (entry >> 32);
    while (high - low > FEW_SEGMENTS) {
        size_t middle = (low + high + 1) >> 1;
        if (is_at_most(wide->starts[middle], address))
            low = middle;
        else
            high = middle - 1;
    }
    size_t first = low;
    for (size_t i = first + 1; i <= high; i++) /* the few that are left are counted without a branch */
        low += is_at_most(wide->starts[i], address);
    return wide->rows[low];
}

static inline uint64_t root_entry(const WideIndex *wide, uint64_t high) {
    const WideNode *root = &wide->nodes[0];
    return high < root->base ? root->before : *entry_of(wide, root, high);
}

static inline uint64_t leaf_entry(const WideIndex *wide, uint64_t entry, uint64_t high) {
    if (!(entry & IS_NODE))
        return entry;
    const WideNode *node = &wide->nodes[entry & ~IS_NODE];
    return high < node->base ? node->before : *entry_of(wide, node, high);
}

Soundness row_of_wide(const Lookup *lookup, Wide address, uint32_t *row) {
    if (is_mapped(address))
        return row_of_narrow(lookup, (uint32_t)address.low, row);
    if (lookup->wide.starts == NULL)
        return row_in_tree(lookup, address, row);
    uint64_t entry = leaf_entry(&lookup->wide, root_entry(&lookup->wide, address.high), address.high);
    *row = search_wide(&lookup->wide, entry, address);
    return SOUND;
}

/* Look up addresses of both families; both tables have to be made. */
void rows_of_wide(const Lookup *lookup, const Wide *addresses, size_t count, uint32_t *rows) {
    const WideIndex *wide = &lookup->wide;
    uint64_t entries[BATCH];
    for (size_t start = 0; start < count; start += BATCH) {
        const Wide *batch = addresses + start;
        size_t size = count - start < BATCH ? count - start : BATCH;
        for (size_t i = 0; i < size; i++)
            entries[i] = is_mapped(batch[i]) ? lookup->table4[(uint32_t)batch[i].low >> (32 - TABLE_BITS)]
                                             : root_entry(wide, batch[i].high);
        for (size_t i = 0; i < size; i++)
            if (entries[i] & IS_NODE)
                __builtin_prefetch(entry_of(wide, &wide->nodes[entries[i] & ~IS_NODE], batch[i].high));
            else if (is_mapped(batch[i]) && !(entries[i] & DIRECT))
                __builtin_prefetch(&lookup->segments[entries[i]]);
        for (size_t i = 0; i < size; i++)
            if (!is_mapped(batch[i])) {
                entries[i] = leaf_entry(wide, entries[i], batch[i].high);
                size_t middle = (entries[i] & UINT32_MAX) + ((entries[i] >> 32) + 1) / 2;
                __builtin_prefetch(&wide->starts[middle]);
                __builtin_prefetch(&wide->rows[middle]);
            }
        for (size_t i = 0; i < size; i++)
            rows[start + i] = is_mapped(batch[i])
                                  ? finish_narrow(lookup, (uint32_t)entries[i], (uint32_t)batch[i].low)
                                  : search_wide(wide, entries[i], batch[i]);
    }
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
