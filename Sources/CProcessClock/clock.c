#define _GNU_SOURCE
#include "clock.h"

#include "CProcessClock.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

struct moment *_Atomic beacon_moment;
pthread_mutex_t beacon_clock_lock = PTHREAD_MUTEX_INITIALIZER;

// Moments are never freed. A reader that is as late as this many moves reads a newer one.
static struct moment moments[1024];
static unsigned moment_count, stop_count;
static _Atomic int64_t steady_lead, boot_lead;

void *beacon_library_function(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

// glibc takes some functions from the kernel's virtual library, and before 2.34, libpthread was a separate library.
// musl's library has the name of its linker.
static bool is_library(const char *name) {
    static const char *const beginnings[] = {"libc.", "libpthread", "ld-musl", "linux-vdso"};
    for (unsigned index = 0; index < sizeof beginnings / sizeof *beginnings; index++)
        if (strncmp(name, beginnings[index], strlen(beginnings[index])) == 0) return true;
    return false;
}

const char *beacon_clock_obstacle(const char **file) {
    static const char *const names[] = {
        "clock_gettime",   "gettimeofday",  "time",      "timerfd_create", "timerfd_settime",
        "timerfd_gettime", "sem_timedwait", "nanosleep", "pthread_cond_timedwait", "pthread_mutex_timedlock",
    };
    *file = "the kernel";
    if (!beacon_counts_runs()) return "/proc/self/task/*/schedstat";
    Dl_info own, first, next;
    dladdr((void *)beacon_clock_obstacle, &own);
    for (unsigned index = 0; index < sizeof names / sizeof *names; index++) {
        *file = "no library";
        if (!dladdr(dlsym(RTLD_DEFAULT, names[index]), &first) || !dladdr(dlsym(RTLD_NEXT, names[index]), &next))
            return names[index];
        *file = first.dli_fname;
        if (first.dli_fbase != own.dli_fbase || strcmp(first.dli_sname, names[index]) != 0) return names[index];
        *file = next.dli_fname;
        const char *name = strrchr(next.dli_fname, '/');
        name = name ? name + 1 : next.dli_fname;
        if (!is_library(name)) return names[index];
    }
    return NULL;
}

// MARK: - Reading

const int64_t *beacon_clock_in(const struct moment *moment, clockid_t clock) {
    switch (clock) {
    case CLOCK_REALTIME: case CLOCK_REALTIME_COARSE: case CLOCK_REALTIME_ALARM: return &moment->wall;
    case CLOCK_MONOTONIC: case CLOCK_MONOTONIC_COARSE: case CLOCK_MONOTONIC_RAW: return &moment->steady;
    case CLOCK_BOOTTIME: case CLOCK_BOOTTIME_ALARM: return &moment->boot;
    default: return NULL;
    }
}

int64_t beacon_clock_lead(clockid_t clock) {
    static const struct moment one = {0};
    const int64_t *time = beacon_clock_in(&one, clock);
    return time == &one.steady ? steady_lead : time == &one.boot ? boot_lead : 0;
}

static int64_t kernel_time(clockid_t clock) {
    struct timespec time;
    syscall(SYS_clock_gettime, clock, &time);
    return beacon_nanoseconds(&time);
}

int64_t beacon_kernel_time(void) {
    return kernel_time(CLOCK_MONOTONIC);
}

// May be called in a signal handler: no lock.
REPLACES int clock_gettime(clockid_t clock, struct timespec *time) {
    const struct moment *now = atomic_load(&beacon_moment);
    const int64_t *stopped = now ? beacon_clock_in(now, clock) : NULL;
    if (stopped) {
        *time = beacon_timespec(*stopped);
        return 0;
    }
    int result = LIBRARY(clock_gettime)(clock, time);
    int64_t ahead = result == 0 ? beacon_clock_lead(clock) : 0;
    if (ahead != 0) *time = beacon_timespec(beacon_nanoseconds(time) + ahead);
    return result;
}

REPLACES int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    const struct moment *now = atomic_load(&beacon_moment);
    if (!now) return LIBRARY(gettimeofday)(time, zone);
    *time = (struct timeval){.tv_sec = now->wall / beacon_second, .tv_usec = now->wall % beacon_second / 1000};
    return 0;
}

REPLACES time_t time(time_t *seconds) {
    const struct moment *now = atomic_load(&beacon_moment);
    if (!now) return LIBRARY(time)(seconds);
    if (seconds) *seconds = now->wall / beacon_second;
    return now->wall / beacon_second;
}

// MARK: - Control

static void lock(void) { pthread_mutex_lock(&beacon_clock_lock); }
static void unlock(void) { pthread_mutex_unlock(&beacon_clock_lock); }

// Nothing moves the clocks of a child process. Its timer descriptors are those of its parent.
static void run_in_child(void) {
    atomic_store(&beacon_moment, NULL);
    unlock();
}

static void prepare(void) {
    pthread_atfork(lock, unlock, run_in_child);
    beacon_run_loops_prepare();
}

static void set_moment(struct moment moment) {
    struct moment *next = &moments[moment_count++ % (sizeof moments / sizeof *moments)];
    *next = moment;
    atomic_store(&beacon_moment, next);
}

void beacon_clock_stop(int64_t wall) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
    beacon_clock_release();
    lock();
    set_moment((struct moment){
        .wall = wall, .steady = kernel_time(CLOCK_MONOTONIC) + steady_lead,
        .boot = kernel_time(CLOCK_BOOTTIME) + boot_lead, .stop = ++stop_count});
    beacon_timers_stop(beacon_moment);
    unlock();
}

void beacon_clock_move(int64_t wall) {
    lock();
    struct moment *now = beacon_moment;
    int64_t time = now ? wall - now->wall : 0;
    if (time > 0) {
        set_moment((struct moment){
            .wall = wall, .steady = now->steady + time, .boot = now->boot + time, .stop = now->stop});
        beacon_timers_fire(beacon_moment);
        beacon_waits_wake(beacon_moment);
    }
    unlock();
}

void beacon_clock_release(void) {
    lock();
    struct moment *now = beacon_moment;
    if (now) {
        int64_t steady = now->steady - kernel_time(CLOCK_MONOTONIC), boot = now->boot - kernel_time(CLOCK_BOOTTIME);
        if (steady > steady_lead) steady_lead = steady;
        if (boot > boot_lead) boot_lead = boot;
        atomic_store(&beacon_moment, NULL);
        beacon_timers_release(now);
        beacon_waits_wake(NULL);
    }
    unlock();
}

int64_t beacon_clock_next(void) {
    lock();
    struct moment *now = beacon_moment;
    int64_t timer = now ? beacon_timers_next(now) : INT64_MAX, wait = now ? beacon_waits_next(now) : INT64_MAX;
    unlock();
    return timer < wait ? timer : wait;
}
