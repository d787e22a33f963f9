/* Memory that runs out: preloaded into a process, it counts the allocations that one library asks for, and refuses one
   of them. Callers are told apart by the address that a call returns to, so Python's own allocations go through. */

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static uintptr_t first, end;
static long count, fails_at;

/* Count calls from first to end, and refuse the n-th; none for 0. Threads may count at once. */
void torture_refuse(uintptr_t from, uintptr_t to, long at) {
    first = from;
    end = to;
    __atomic_store_n(&count, 0, __ATOMIC_RELAXED);
    fails_at = at;
}

long torture_asked(void) { return __atomic_load_n(&count, __ATOMIC_RELAXED); }

static int is_refused(void *caller) {
    if ((uintptr_t)caller < first || (uintptr_t)caller >= end)
        return 0;
    long number = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    if (number != fails_at)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return is_refused(__builtin_return_address(0)) ? NULL : __libc_malloc(size); }

void *calloc(size_t items, size_t size) {
    return is_refused(__builtin_return_address(0)) ? NULL : __libc_calloc(items, size);
}

void *realloc(void *block, size_t size) {
    return is_refused(__builtin_return_address(0)) ? NULL : __libc_realloc(block, size);
}
