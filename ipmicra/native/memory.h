/* Blocks of memory that may be large: in huge pages where the system has them.
 *
 * The first touch of a page costs a fault, and where the system is virtual that fault may cost a microsecond and
 * more: half a gigabyte took 0.4 s in pages of 4 KiB and 0.05 s in pages of 2 MiB. Linux gives huge pages to those
 * who ask (`madvise`); numpy asks for its arrays, and this is how we ask for ours. Blocks are freed by `free`. */
#ifndef IPMICRA_MEMORY_H
#define IPMICRA_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#if defined(__linux__)
#include <sys/mman.h>
#if !defined(MADV_HUGEPAGE)
#error "compile with -D_DEFAULT_SOURCE: strict C11 hides MADV_HUGEPAGE, and nobody would notice but for the time"
#endif
#endif

enum { HUGE_PAGE = 2 << 20, WORTH_ADVICE = 2 * HUGE_PAGE };

/* Ask for huge pages inside a block; it is only a hint. Returns the block, which may be NULL. */
static inline void *advise_huge(void *block, size_t bytes) {
#if defined(__linux__)
    if (block != NULL && bytes >= WORTH_ADVICE) {
        uintptr_t start = ((uintptr_t)block + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
        uintptr_t end = ((uintptr_t)block + bytes) & ~(uintptr_t)(HUGE_PAGE - 1);
        madvise((void *)start, end - start, MADV_HUGEPAGE);
    }
#else
    (void)bytes;
#endif
    return block;
}

/* As malloc, calloc and realloc; NULL where there is no memory or the size overflows. */
static inline void *make_room(size_t count, size_t item_size) {
    return count > SIZE_MAX / item_size ? NULL : advise_huge(malloc(count * item_size), count * item_size);
}

static inline void *make_zeros(size_t count, size_t item_size) {
    return advise_huge(calloc(count, item_size), count * item_size);
}

static inline void *make_larger(void *block, size_t count, size_t item_size) {
    return count > SIZE_MAX / item_size ? NULL : advise_huge(realloc(block, count * item_size), count * item_size);
}

/* Load a byte, so that its cache line is on its way while others are asked for: a processor waits for many at once.
 *
 * This is for random places of a mapped file. Its pages are small, so that the page tables have to be read as well, and
 * prefetches were seen to have no effect there: loads took half the time. */
static inline void touch(const void *at) { (void)*(const volatile uint8_t *)at; }

#endif
