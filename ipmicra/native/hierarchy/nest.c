/* Nesting ranges, both ends included, into a tree, and flattening the tree into segments.
 *
 * Theory of operation
 * -------------------
 * One pass over the ranges in the order of their starts, widest first, with a stack of those that are still open.
 * Where two ranges overlap in part, the narrower one is cut at the end of the wider one that lies inside it. One
 * part then lies inside the wider range and the other outside of it, so that the tree stays a tree, no address is
 * lost, and the lineage of an address is exactly the ranges that hold it, widest first. Of two equally wide ranges
 * the one that starts later counts as narrower. What is cut off waits in a heap until the pass reaches its start.
 *
 * IPv6 is nested in ranks of its bounds, in which nesting is the same; widths are then ranks too and come along.
 * So bounds of both families have 32 bits, and rows are written as the file has them. */

#include "../memory.h"
#include "hierarchy.h"

/* A range, or a piece that was cut off one. */
typedef struct {
    uint64_t width; /* of the whole range */
    uint32_t first;
    uint32_t last;
    uint32_t source;
} Piece;

typedef struct {
    Piece *items;
    size_t count;
    size_t capacity;
    bool is_out_of_memory;
} Heap;

/* Return whether a piece has its turn before another: by start, then the widest whole, then the earliest.
 *
 * A piece may be shorter than a range of the same start that is narrower than what the piece was cut from, and yet
 * comes above it. */
static bool is_before(const Piece *one, const Piece *other) {
    if (one->first != other->first)
        return one->first < other->first;
    if (one->width != other->width)
        return one->width > other->width;
    if (one->source != other->source)
        return one->source < other->source;
    return one->last < other->last;
}

static void push(Heap *heap, Piece piece) {
    if (heap->count == heap->capacity) {
        size_t capacity = heap->capacity ? heap->capacity * 2 : 256;
        Piece *larger = realloc(heap->items, capacity * sizeof *larger);
        if (larger == NULL) {
            heap->is_out_of_memory = true;
            return;
        }
        heap->items = larger;
        heap->capacity = capacity;
    }
    size_t at = heap->count++;
    while (at > 0 && is_before(&piece, &heap->items[(at - 1) / 2])) {
        heap->items[at] = heap->items[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->items[at] = piece;
}

static Piece pop(Heap *heap) {
    Piece top = heap->items[0], last = heap->items[--heap->count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && is_before(&heap->items[child + 1], &heap->items[child]))
            child++;
        if (!is_before(&heap->items[child], &last))
            break;
        heap->items[at] = heap->items[child];
        at = child;
    }
    heap->items[at] = last;
    return top;
}

typedef struct {
    Ranges ranges;
    Nested *nested;
    size_t rows;
    Heap pending;
    uint32_t *stack; /* rows that are open, widest first */
    size_t depth;
    size_t stack_room;
} Nesting;

static inline uint32_t first_of(const Ranges *ranges, size_t i) { return (uint32_t)(ranges->keys[i] >> 32); }

static inline uint32_t last_of(const Ranges *ranges, size_t i) { return ~(uint32_t)ranges->keys[i]; }

static inline uint64_t width_of(const Ranges *ranges, size_t i) {
    return ranges->widths != NULL ? ranges->widths[i] : last_of(ranges, i) - first_of(ranges, i);
}

static inline Piece range_at(const Ranges *ranges, size_t i) {
    return (Piece){width_of(ranges, i), first_of(ranges, i), last_of(ranges, i), (uint32_t)i};
}

/* Return the source of the row whose own end the top of the stack has: what lies inside may have been cut there.
 *
 * Ends on the stack never increase from the bottom up, so that the first of those equal to the top's is bisected:
 * walking down took as long as ranges with one end are many, for each range cut there. */
static uint32_t owner_of_end(const Nesting *nesting) {
    const uint32_t(*bounds)[2] = (const uint32_t(*)[2])nesting->nested->bounds;
    const uint32_t *stack = nesting->stack;
    size_t low = 0, high = nesting->depth - 1;
    uint32_t top_last = bounds[stack[high]][1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (bounds[stack[middle]][1] == top_last)
            high = middle;
        else
            low = middle + 1;
    }
    return nesting->nested->source[stack[low]];
}

/* Cut the narrower of the top of the stack and a piece that overlaps it in part; return whether it was the top.
 *
 * The piece ends behind the top, and where the top is the narrower one it starts before the piece: so neither of the
 * neighbours below leaves the space. */
static bool cut(Nesting *nesting, const Piece *piece) {
    Nested *nested = nesting->nested;
    uint32_t top = nesting->stack[nesting->depth - 1], over = nested->source[top];
    uint32_t *top_last = &nested->bounds[top][1];
    uint64_t over_width = width_of(&nesting->ranges, over);
    bool is_top_narrower = over_width < piece->width ||
                           (over_width == piece->width &&
                            first_of(&nesting->ranges, over) > first_of(&nesting->ranges, piece->source));
    int64_t *pair = nested->cuts[nested->cut_count++];
    pair[0] = is_top_narrower ? over : piece->source;
    pair[1] = is_top_narrower ? piece->source : owner_of_end(nesting);
    if (is_top_narrower) {
        push(&nesting->pending, (Piece){over_width, piece->first, *top_last, over});
        *top_last = piece->first - 1;
    } else {
        push(&nesting->pending, (Piece){piece->width, piece->first, *top_last, piece->source});
        push(&nesting->pending, (Piece){piece->width, *top_last + 1, piece->last, piece->source});
    }
    return is_top_narrower;
}

/* Write a piece as a row inside the top of the stack; return whether there was room and memory. */
static int64_t open_row(Nesting *nesting, const Piece *piece) {
    Nested *nested = nesting->nested;
    if (nesting->rows == nested->room)
        return OUT_OF_ROOM;
    if (nesting->depth == nesting->stack_room) {
        size_t room = nesting->stack_room ? 2 * nesting->stack_room : 1024;
        uint32_t *larger = realloc(nesting->stack, room * sizeof *larger);
        if (larger == NULL)
            return OUT_OF_MEMORY;
        nesting->stack = larger;
        nesting->stack_room = room;
    }
    size_t row = nesting->rows++;
    nested->source[row] = piece->source;
    nested->bounds[row][0] = piece->first;
    nested->bounds[row][1] = piece->last;
    nested->parent[row] = nesting->depth > 0 ? nesting->stack[nesting->depth - 1] : 0;
    if (nesting->depth > nested->deepest)
        nested->deepest = nesting->depth;
    nesting->stack[nesting->depth++] = (uint32_t)row;
    return 0;
}

/* Put one piece where it belongs, or cut it or what it overlaps. */
static int64_t place(Nesting *nesting, const Piece *piece) {
    Nested *nested = nesting->nested;
    while (nesting->depth > 0 && nested->bounds[nesting->stack[nesting->depth - 1]][1] < piece->last) {
        if (nested->bounds[nesting->stack[nesting->depth - 1]][1] >= piece->first) { /* overlaps in part */
            if (nested->cut_count == nested->cut_room)
                return OUT_OF_ROOM;
            if (!cut(nesting, piece))
                return 0; /* both parts of the piece wait for their turn */
        }
        nesting->depth--;
    }
    return open_row(nesting, piece);
}

/* Nest ranges; return the number of rows, OUT_OF_ROOM where there is room for fewer, or OUT_OF_MEMORY.
 *
 * Writes for each row the range it came from, its bounds and its parent, in preorder, and for each cut the range
 * that was cut and the one that cut it. */
int64_t nest_ranges(Ranges ranges, Nested *nested) {
    Nesting nesting = {.ranges = ranges, .nested = nested};
    int64_t status = 0;
    nested->cut_count = nested->deepest = 0;
    for (size_t i = 0; status == 0 && (i < ranges.count || nesting.pending.count > 0);) {
        Piece piece;
        bool is_range = i < ranges.count;
        if (is_range)
            piece = range_at(&ranges, i);
        if (nesting.pending.count > 0 && (!is_range || is_before(&nesting.pending.items[0], &piece)))
            piece = pop(&nesting.pending);
        else
            i++;
        status = place(&nesting, &piece);
        if (nesting.pending.is_out_of_memory)
            status = OUT_OF_MEMORY;
    }
    free(nesting.pending.items);
    free(nesting.stack);
    return status < 0 ? status : (int64_t)nesting.rows;
}

/* Append a segment, in place of one that starts at the same address. */
static size_t add_segment(uint64_t *segments, size_t count, uint64_t start, size_t row) {
    if (count > 0 && segments[count - 1] >> 32 == start)
        count--;
    segments[count] = start << 32 | row;
    return count + 1;
}

/* Write the pieces of address space that belong to one narrowest subnet, as start << 32 | row.
 *
 * 10.0.0.0/8 with 10.1.0.0/16 inside gives: 0 → root, 10.0.0.0 → /8, 10.1.0.0 → /16, 10.2.0.0 → /8,
 * 11.0.0.0 → root. Each row opens one segment and closes into at most one, so 2 · count + 1 have room. */
int64_t flatten_tree(const uint32_t (*bounds)[2], const uint32_t *parent, size_t count, uint64_t *segments,
                     size_t room) {
    size_t written = 0, top = 0;
    if (room < 2 * count + 1 || count == 0)
        return OUT_OF_ROOM;
    for (size_t i = 0; i <= count; i++) {
        uint64_t start = i < count ? bounds[i][0] : (uint64_t)bounds[0][1] + 1;
        while (top != 0 && bounds[top][1] < start) {
            uint64_t stop = (uint64_t)bounds[top][1] + 1;
            if (parent[top] >= top)
                return NOT_SOUND;
            top = parent[top];
            if (stop < start)
                written = add_segment(segments, written, stop, top);
        }
        if (i < count) {
            written = add_segment(segments, written, start, i);
            top = i;
        }
    }
    return (int64_t)written;
}

/* Write for each bucket of 2^shift addresses its row, or count << 32 | the segment it begins in. */
void index_segments(const uint64_t *segments, size_t count, unsigned shift, uint64_t *index, size_t size) {
    size_t at = 0;
    for (size_t bucket = 0; bucket < size; bucket++) {
        uint64_t edge = (uint64_t)bucket << shift, last = edge | (((uint64_t)1 << shift) - 1);
        while (at + 1 < count && segments[at + 1] >> 32 <= edge)
            at++;
        size_t begin = at;
        while (at + 1 < count && segments[at + 1] >> 32 <= last)
            at++;
        index[bucket] = at == begin ? segments[at] & UINT32_MAX : (uint64_t)(at - begin) << 32 | begin;
    }
}
