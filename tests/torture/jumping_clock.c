/* A wall clock that jumps: preloaded between a program and its C library.
 *
 * JUMPING_CLOCK names a file of eight bytes, a signed number of nanoseconds in the machine's byte order, that is
 * added to the time of day. It is mapped, so a change counts at once. Clocks that measure durations
 * (CLOCK_MONOTONIC and the like) are left alone: that is the difference under test.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *ahead_ns;
static int (*real_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void begin(void)
{
    real_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    const char *path = getenv("JUMPING_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *mapped = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED)
        ahead_ns = mapped;
}

int clock_gettime(clockid_t which, struct timespec *now)
{
    if (!real_gettime)
        begin();
    int failed = real_gettime(which, now);
    if (failed || !ahead_ns || (which != CLOCK_REALTIME && which != CLOCK_REALTIME_COARSE))
        return failed;
    int64_t ahead = *ahead_ns, ns = now->tv_nsec + ahead % 1000000000;
    now->tv_sec += ahead / 1000000000 + (ns >= 1000000000) - (ns < 0);
    now->tv_nsec = ns + (ns < 0 ? 1000000000 : ns >= 1000000000 ? -1000000000 : 0);
    return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    (void)zone;
    struct timespec precise;
    int failed = clock_gettime(CLOCK_REALTIME, &precise);
    if (!failed && now) {
        now->tv_sec = precise.tv_sec;
        now->tv_usec = precise.tv_nsec / 1000;
    }
    return failed;
}

time_t time(time_t *kept)
{
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    if (kept)
        *kept = precise.tv_sec;
    return precise.tv_sec;
}
