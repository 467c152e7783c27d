#define _GNU_SOURCE
#include "clock.h"

#include "CProcessClock.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

// Of libdispatch and Foundation, whose headers other targets lack.
extern struct dispatch_queue_s _dispatch_main_q;
extern void dispatch_queue_set_specific(void *queue, const void *key, void *value, void (*destroy)(void *));
extern void *dispatch_get_specific(const void *key);
extern void *CFRunLoopGetMain(void);
extern void *CFRunLoopGetCurrent(void);
extern int32_t CFRunLoopRunInMode(const void *mode, double seconds, unsigned char returns_after_source);
extern int32_t CFRunLoopRunSpecific(void *loop, const void *mode, double seconds, unsigned char returns_after_source);

// In Swift Testing, the main thread has ended, and any thread may run the main queue. A timer that code on that queue
// starts would be in the run loop of such a thread, which nothing runs. While the clocks are stopped, code on the main
// queue has the main run loop, as on iOS.

static char mark;
static _Atomic bool is_used;

void beacon_run_loops_prepare(void) {
    dispatch_queue_set_specific(&_dispatch_main_q, &mark, &mark, NULL);
}

bool beacon_main_loop_is_used(void) {
    return is_used;
}

static bool has_main_loop(void) {
    return atomic_load(&beacon_moment) && getpid() != syscall(SYS_gettid) && dispatch_get_specific(&mark);
}

REPLACES void *CFRunLoopGetCurrent(void) {
    if (!has_main_loop()) return LIBRARY(CFRunLoopGetCurrent)();
    is_used = true;
    return CFRunLoopGetMain();
}

static int32_t run_once(const void *mode, unsigned char returns_after_source) {
    return CFRunLoopRunSpecific(CFRunLoopGetMain(), mode, 0, returns_after_source);
}

// Another thread cannot wake the main run loop after the main thread's end. So it is polled.
REPLACES int32_t CFRunLoopRunInMode(const void *mode, double seconds, unsigned char returns_after_source) {
    if (!has_main_loop()) return LIBRARY(CFRunLoopRunInMode)(mode, seconds, returns_after_source);
    static const int32_t finished = 1, timed_out = 3;
    const struct moment *now = atomic_load(&beacon_moment);
    int64_t duration = seconds < 1e9 ? (int64_t)(seconds * 1e9) : INT64_MAX;
    struct timespec end = beacon_timespec(now && duration > 0 ? beacon_later(now->steady, duration) : 0);
    int32_t result = run_once(mode, returns_after_source);
    struct wait wait;
    if (duration <= 0 || result != timed_out || !beacon_wait_begin(&wait, CLOCK_MONOTONIC, &end, NULL)) return result;
    int error;
    wait.polls = true;
    BEACON_REPEAT(error, wait, ({
        usleep(beacon_slice / 1000);
        wait.polled = beacon_fires;
        result = run_once(mode, returns_after_source);
        // It always has something to wait for, on iOS.
        result == timed_out || result == finished ? ETIMEDOUT : 0;
    }));
    (void)error;
    return result;
}
