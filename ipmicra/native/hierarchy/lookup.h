/* Addresses to rows of a hierarchy. */
#ifndef IPMICRA_LOOKUP_H
#define IPMICRA_LOOKUP_H

#include "../parse/values.h"

enum { LOOK_UPS = 64, FAN = 16, MOST_LEVELS = 8 }; /* 16^8 keys are more than there can be segments */

/* The IPv6 tree flattened: which row the addresses from each start on belong to; see wide.c. */
typedef struct {
    uint64_t *highs[MOST_LEVELS]; /* upper halves of the starts; of every sixteenth of them; and so on */
    size_t sizes[MOST_LEVELS];    /* keys of each level, without those that fill its last group up */
    int levels;                   /* 0 until the index is made */
    uint64_t *lows;               /* lower halves of the starts */
    uint32_t *rows;               /* with FINE where the lower half of a start is not 0 */
    size_t count;
} WideIndex;

/* What look-ups read: sections of a hierarchy file, and what is made of them when it pays. */
typedef struct {
    const uint64_t *index;
    size_t index_size; /* a power of two */
    const uint64_t *segments;
    size_t segment_count;
    const uint64_t (*bounds6)[4];
    const uint32_t *parent6;
    size_t rows4;
    size_t rows6;
    uint32_t *table4; /* NULL until it is made */
    WideIndex wide;   /* likewise */
} Lookup;

/* What is wrong with a hierarchy file. */
typedef enum { SOUND, NO_MEMORY, BAD_INDEX, BAD_SEGMENTS, BAD_PARENTS } Soundness;

Soundness row_of_narrow(const Lookup *lookup, uint32_t address, uint32_t *row);
Soundness row_of_wide(const Lookup *lookup, Wide address, uint32_t *row);
Soundness make_table4(Lookup *lookup);
Soundness make_wide_index(Lookup *lookup);
void rows_of_narrow(const Lookup *lookup, const uint32_t *addresses, size_t count, uint32_t *rows);

/* Instructions by which arrays of IPv6 addresses are searched; those that a processor lacks are replaced by plain ones. */
typedef enum { BEST, PLAIN, AVX2, AVX512 } Instructions;

Soundness rows_of_wide(const Lookup *lookup, const Wide *addresses, size_t count, uint32_t *rows, Instructions by);
void free_lookup(Lookup *lookup);

/* Look up in the index of IPv6, which has to be made; at most LOOK_UPS addresses at once. */
uint32_t row_in_index(const WideIndex *wide, Wide address);
void rows_in_index(const WideIndex *wide, const Wide *addresses, size_t count, uint32_t *rows, Instructions by);
void free_wide(WideIndex *wide);

static inline Wide first_of(const Lookup *lookup, size_t i) {
    return (Wide){lookup->bounds6[i][0], lookup->bounds6[i][1]};
}

static inline Wide last_of(const Lookup *lookup, size_t i) {
    return (Wide){lookup->bounds6[i][2], lookup->bounds6[i][3]};
}

/* Read an address as text; IPv4 becomes IPv4-mapped IPv6. Returns false for anything that needs a closer look. */
bool read_address(Span text, Wide *address);

static inline bool is_mapped(Wide address) { return address.high == 0 && address.low >> 32 == 0xFFFF; }

static inline bool is_at_most(Wide one, Wide other) {
    return (one.high < other.high) | ((one.high == other.high) & (one.low <= other.low));
}

#endif
