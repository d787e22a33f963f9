/* A disk that fails: preloaded into a process, it counts what the process does to the files of one folder, lets one of
   these operations fail, and writes all of them to a log from which the state after a power cut can be made.

   The process itself says when: `torture_arm` is found by name. Only calls that change a disk are counted: open for
   writing, write, truncate, sync, rename, unlink. What is mapped into memory is not seen; SQLite maps only the index of
   its log, which it makes anew after a crash. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FILES = 4096, OPEN = 1, WRITE, TRUNCATE, SYNC, RENAME, UNLINK, NOTE };
enum { ONCE = 0, FROM_NOW_ON = 1, HALF = 2 };

static char folder[PATH_MAX];
static char *paths[FILES];
static long count, fails_at;
static int failure, mode, log_file = -1;

/* --- called by the process */

void torture_arm(const char *where, long at, int error, int how, int log) {
    snprintf(folder, sizeof folder, "%s/", where);
    count = 0;
    fails_at = at;
    failure = error;
    mode = how;
    log_file = log;
}

long torture_count(void) { return count; }

static void logged(uint8_t kind, const char *path, const char *other, uint64_t offset, const void *data, uint32_t size) {
    if (log_file < 0)
        return;
    static ssize_t (*real)(int, const void *, size_t);
    if (!real)
        real = dlsym(RTLD_NEXT, "write");
    char head[2 * PATH_MAX + 64];
    int length = snprintf(head, sizeof head, "%d\t%s\t%s\t%llu\t%u\n", kind, path, other, (unsigned long long)offset, size);
    if (real(log_file, head, length) != length || (size && real(log_file, data, size) != (ssize_t)size))
        abort();
}

void torture_note(long number) { logged(NOTE, "", "", number, "", 0); }

/* --- which operations count */

static int is_ours(const char *path) { return *folder && strncmp(path, folder, strlen(folder)) == 0; }

static const char *path_of(int file) { return file >= 0 && file < FILES ? paths[file] : NULL; }

/* Return whether this operation is to fail. */
static int fails(void) {
    count++;
    if (!fails_at || !(mode == FROM_NOW_ON ? count >= fails_at : count == fails_at))
        return 0;
    errno = failure;
    return 1;
}

static int opened(int file, const char *path, int flags) {
    if (file >= 0 && file < FILES) {
        free(paths[file]);
        paths[file] = is_ours(path) ? strdup(path) : NULL;
    }
    if (file >= 0 && is_ours(path) && flags & O_TRUNC)
        logged(TRUNCATE, path, "", 0, "", 0);
    return file;
}

/* Return whether opening is to fail; note a file that is made. */
static int is_refused(const char *path, int flags) {
    if ((flags & O_ACCMODE) == O_RDONLY || !is_ours(path))
        return 0;
    if (fails())
        return 1;
    if (flags & O_CREAT && access(path, F_OK))
        logged(OPEN, path, "", 0, "", 0);
    return 0;
}

#define REAL(result, name, ...)                                                                                        \
    static result (*real)(__VA_ARGS__);                                                                                \
    if (!real)                                                                                                         \
        real = dlsym(RTLD_NEXT, #name)

#define OPENING(name)                                                                                                  \
    int name(const char *path, int flags, ...) {                                                                       \
        REAL(int, name, const char *, int, ...);                                                                       \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t bits = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                        \
        va_end(rest);                                                                                                  \
        if (is_refused(path, flags))                                                                                   \
            return -1;                                                                                                 \
        return opened(real(path, flags, bits), path, flags);                                                           \
    }

#define OPENING_AT(name)                                                                                               \
    int name(int at, const char *path, int flags, ...) {                                                               \
        REAL(int, name, int, const char *, int, ...);                                                                  \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t bits = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                        \
        va_end(rest);                                                                                                  \
        if (is_refused(path, flags))                                                                                   \
            return -1;                                                                                                 \
        return opened(real(at, path, flags, bits), path, flags);                                                       \
    }

OPENING(open)
OPENING(open64)
OPENING_AT(openat)
OPENING_AT(openat64)

int close(int file) {
    REAL(int, close, int);
    if (path_of(file)) {
        free(paths[file]);
        paths[file] = NULL;
    }
    return real(file);
}

/* --- data */

static off_t end_of(int file) {
    struct stat about;
    return fstat(file, &about) ? 0 : about.st_size;
}

static off_t where(int file) {
    int flags = fcntl(file, F_GETFL);
    return flags & O_APPEND ? end_of(file) : lseek(file, 0, SEEK_CUR);
}

ssize_t write(int file, const void *data, size_t size) {
    REAL(ssize_t, write, int, const void *, size_t);
    const char *path = path_of(file);
    if (!path)
        return real(file, data, size);
    off_t offset = where(file);
    if (fails()) {
        if (mode == HALF && size > 1) {
            logged(WRITE, path, "", offset, data, size / 2);
            return real(file, data, size / 2);
        }
        return -1;
    }
    logged(WRITE, path, "", offset, data, size);
    return real(file, data, size);
}

#define WRITING_AT(name, kind)                                                                                         \
    ssize_t name(int file, const void *data, size_t size, kind offset) {                                               \
        REAL(ssize_t, name, int, const void *, size_t, kind);                                                          \
        const char *path = path_of(file);                                                                              \
        if (!path)                                                                                                     \
            return real(file, data, size, offset);                                                                     \
        if (fails()) {                                                                                                 \
            if (mode == HALF && size > 1) {                                                                            \
                logged(WRITE, path, "", offset, data, size / 2);                                                       \
                return real(file, data, size / 2, offset);                                                             \
            }                                                                                                          \
            return -1;                                                                                                 \
        }                                                                                                              \
        logged(WRITE, path, "", offset, data, size);                                                                   \
        return real(file, data, size, offset);                                                                         \
    }

WRITING_AT(pwrite, off_t)
WRITING_AT(pwrite64, off64_t)

ssize_t writev(int file, const struct iovec *parts, int number) {
    REAL(ssize_t, writev, int, const struct iovec *, int);
    if (!path_of(file))
        return real(file, parts, number);
    ssize_t written = 0;
    for (int i = 0; i < number; i++) {
        ssize_t one = write(file, parts[i].iov_base, parts[i].iov_len);
        if (one < 0)
            return written ? written : -1;
        written += one;
        if ((size_t)one < parts[i].iov_len)
            break;
    }
    return written;
}

#define TRUNCATING(name, kind)                                                                                         \
    int name(int file, kind size) {                                                                                    \
        REAL(int, name, int, kind);                                                                                    \
        const char *path = path_of(file);                                                                              \
        if (path) {                                                                                                    \
            if (fails())                                                                                               \
                return -1;                                                                                             \
            logged(TRUNCATE, path, "", size, "", 0);                                                                   \
        }                                                                                                              \
        return real(file, size);                                                                                       \
    }

TRUNCATING(ftruncate, off_t)
TRUNCATING(ftruncate64, off64_t)

#define SYNCING(name)                                                                                                  \
    int name(int file) {                                                                                               \
        REAL(int, name, int);                                                                                          \
        char link[64], path[PATH_MAX] = "";                                                                            \
        snprintf(link, sizeof link, "/proc/self/fd/%d", file);                                                         \
        ssize_t length = readlink(link, path, sizeof path - 2);                                                        \
        path[length > 0 ? length : 0] = 0;                                                                             \
        int is_folder = *folder && strlen(path) + 1 == strlen(folder) && strncmp(path, folder, strlen(path)) == 0;     \
        if (is_folder || is_ours(path)) {                                                                              \
            if (fails())                                                                                               \
                return -1;                                                                                             \
            logged(SYNC, path, "", 0, "", 0);                                                                          \
            return 0; /* nothing here survives the test, so nothing need reach a disk */                               \
        }                                                                                                              \
        return real(file);                                                                                             \
    }

SYNCING(fsync)
SYNCING(fdatasync)

/* --- names */

int rename(const char *before, const char *after) {
    REAL(int, rename, const char *, const char *);
    if (is_ours(after)) {
        if (fails())
            return -1;
        logged(RENAME, before, after, 0, "", 0);
    }
    return real(before, after);
}

int renameat(int from, const char *before, int to, const char *after) {
    REAL(int, renameat, int, const char *, int, const char *);
    if (is_ours(after)) {
        if (fails())
            return -1;
        logged(RENAME, before, after, 0, "", 0);
    }
    return real(from, before, to, after);
}

int unlink(const char *path) {
    REAL(int, unlink, const char *);
    if (is_ours(path) && access(path, F_OK) == 0) {
        if (fails())
            return -1;
        logged(UNLINK, path, "", 0, "", 0);
    }
    return real(path);
}
