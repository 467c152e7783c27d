// Changes the wall clock of one process. Preloaded by ld.so, it adds a number of seconds: the 64-bit number at the
// start of the file WALL_CLOCK, which can change at any time. Other clocks and all timers stay the same, as when a user
// sets the machine's clock.
//
// libfaketime is not suitable: it also changes timers of clocks that cannot be set (timerfd_settime). A process that
// sleeps for a second would then also sleep for the time by which the wall clock was set back.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *lead;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("WALL_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *page = mmap(NULL, sizeof *lead, PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) lead = page;
    close(file);
}

// The system call fills in two words.
_Static_assert(sizeof(struct timespec) == 2 * sizeof(long), "the C library's times are not the system call's");

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && lead && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += *lead;
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}
