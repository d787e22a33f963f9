/* A reserve of address space that is released when Python first gets no memory.
 *
 * Where not even a number fits, CPython cannot unwind an error: it makes a number of the place in the code to which it
 * unwinds, gets no memory for that, and unwinds that error in turn, for ever. So the allocator under all of Python's
 * memory is wrapped: the first time that it has none, the reserve is given back and the request fails all the same.
 * What is free now is for those who handle the error.
 *
 * The functions that wrap an allocator are not in the stable ABI, so they are looked up by name; their type has been the
 * same since Python 3.5. */

#include "arrays.h"
#include <dlfcn.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

/* PyMemAllocatorEx */
typedef struct {
    void *context;
    void *(*malloc)(void *context, size_t size);
    void *(*calloc)(void *context, size_t count, size_t size);
    void *(*realloc)(void *context, void *block, size_t size);
    void (*free)(void *context, void *block);
} Allocator;

enum { RESERVE = 8 << 20 }; /* Python takes memory for small objects by the megabyte */
enum { DOMAIN_RAW = 0 }; /* PYMEM_DOMAIN_RAW: what the other domains ask as well; it may be called without the GIL */

static Allocator plain;
static _Atomic(void *) reserve;

/* Return a block; if there is none, release the reserve. */
static void *noticed(void *block) {
    void *held = block == NULL ? atomic_exchange(&reserve, NULL) : NULL;
    if (held != NULL)
        munmap(held, RESERVE);
    return block;
}

static void *wrapped_malloc(void *context, size_t size) { return noticed(plain.malloc(context, size)); }

static void *wrapped_calloc(void *context, size_t count, size_t size) {
    return noticed(plain.calloc(context, count, size));
}

static void *wrapped_realloc(void *context, void *block, size_t size) {
    return noticed(plain.realloc(context, block, size));
}

/* Wrap Python's allocator, once; return whether that is done. */
static bool wrap(void) {
    static bool is_wrapped = false;
    void (*get)(int, Allocator *) = NULL, (*set)(int, Allocator *) = NULL;
    void *python = is_wrapped ? NULL : dlopen(NULL, RTLD_LAZY);
    if (python == NULL)
        return is_wrapped;
    void *found[2] = {dlsym(python, "PyMem_GetAllocator"), dlsym(python, "PyMem_SetAllocator")};
    memcpy(&get, &found[0], sizeof get); /* C has no cast from an object to a function */
    memcpy(&set, &found[1], sizeof set);
    if (get != NULL && set != NULL) {
        get(DOMAIN_RAW, &plain);
        Allocator wrapping = {plain.context, wrapped_malloc, wrapped_calloc, wrapped_realloc, plain.free};
        set(DOMAIN_RAW, &wrapping);
        is_wrapped = true;
    }
    dlclose(python);
    return is_wrapped;
}

FUNCTION(keep_reserve, 0) {
    (void)args;
    if (atomic_load(&reserve) != NULL || !wrap())
        return return_number(frame, atomic_load(&reserve) != NULL);
    void *held = mmap(NULL, RESERVE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    expect_memory(frame, held != MAP_FAILED);
    if (!frame->is_failed)
        atomic_store(&reserve, held);
    return return_number(frame, 1);
}

/* Let all threads share one heap: glibc sets 64 MiB of address space aside for each of them otherwise. */
FUNCTION(share_heap, 0) {
    (void)args;
#if defined(__GLIBC__)
    return return_number(frame, mallopt(M_ARENA_MAX, 1));
#else
    return return_number(frame, 0);
#endif
}

PyMethodDef reserve_functions[] = {
    METHOD(share_heap, "Let all threads share one heap; return whether the C library can."),
    METHOD(keep_reserve, "Keep memory back until Python first gets none; return 1, or 0 if this Python cannot."),
    {NULL, NULL, 0, NULL},
};
