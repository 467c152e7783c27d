#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

// Weak, so that a second definition, in a static library or of a sanitizer, replaces it instead of failing to link.
// beacon_clock_obstacle reports it.
#define REPLACES __attribute__((weak, visibility("default")))

// The C library's definition of a function.
#define LIBRARY(name)                                                                          \
    ({                                                                                         \
        static __typeof__(&name) found;                                                        \
        __typeof__(&name) function = __atomic_load_n(&found, __ATOMIC_RELAXED);                \
        if (!function) {                                                                       \
            function = (__typeof__(&name))beacon_library_function(#name);                      \
            __atomic_store_n(&found, function, __ATOMIC_RELAXED);                              \
        }                                                                                      \
        function;                                                                              \
    })

void *beacon_library_function(const char *name);

// The clocks at one time, while they are stopped.
struct moment {
    int64_t wall, steady, boot;
    // The number of the stop.
    unsigned stop;
};

// The present moment; null while the clocks run. It changes under `beacon_clock_lock` only, and is read without it.
extern struct moment *_Atomic beacon_moment;
// Guards timers and waits. Nothing that may block is called with it.
extern pthread_mutex_t beacon_clock_lock;

// Returns the time of a clock in a moment; null for clocks of the processor's time.
const int64_t *beacon_clock_in(const struct moment *moment, clockid_t clock);
// Returns how far the steady clocks are ahead of the kernel's, after a stop; 0 for the others.
int64_t beacon_clock_lead(clockid_t clock);

// Returns true if the kernel counts how often a thread has run.
bool beacon_counts_runs(void);
// Prepares for a stop, once.
void beacon_run_loops_prepare(void);

// These are called with the lock.
void beacon_timers_stop(const struct moment *now);
void beacon_timers_fire(const struct moment *now);
void beacon_timers_release(const struct moment *now);
int64_t beacon_timers_next(const struct moment *now);
// Wakes the threads whose time has come, which are all where the clocks run. Returns true if there are any, or if a thread
// still has to look at timers.
bool beacon_waits_wake(const struct moment *now);
int64_t beacon_waits_next(const struct moment *now);

// A thread that waits for a time while the clocks are stopped. It is on the thread's stack.
struct wait {
    // Of the wall clock.
    int64_t deadline;
    unsigned stop;
    // What wakes the thread; null for one that looks at the clock itself.
    pthread_cond_t *condition;
    struct wait *next;
    // For a thread that looks at timer descriptors itself: `beacon_fires` before it last did.
    bool polls;
    _Atomic unsigned polled;
};

// How many timers have fired.
extern _Atomic unsigned beacon_fires;

// Adds a wait. Returns false if the clocks run, or the time is invalid, so that the C library's function is right.
bool beacon_wait_begin(
    struct wait *wait, clockid_t clock, const struct timespec *end, pthread_cond_t *condition);
// Removes a wait. A cancelled thread calls it, too.
void beacon_wait_end(void *wait);
// Returns true for a wait of an earlier stop, too: its deadline no longer means anything.
bool beacon_wait_is_due(const struct wait *wait, const struct moment *now);

// Calls `attempt` until it does something else than time out, or until the wait is due, and removes the wait.
#define BEACON_REPEAT(result, wait, attempt)                                                               \
    pthread_cleanup_push(beacon_wait_end, &wait);                                                          \
    do result = (attempt); while (result == ETIMEDOUT && !beacon_wait_is_due(&wait, beacon_moment));       \
    pthread_cleanup_pop(1)

static const int64_t beacon_second = 1000000000;
// How long a thread sleeps before it looks at the stopped clock again, where nothing can wake it.
static const int64_t beacon_slice = 1000000;

static inline struct timespec beacon_timespec(int64_t time) {
    return (struct timespec){.tv_sec = time / beacon_second, .tv_nsec = time % beacon_second};
}

// Times beyond the range count as never.
static inline int64_t beacon_nanoseconds(const struct timespec *time) {
    return time->tv_sec < INT64_MAX / beacon_second ? time->tv_sec * beacon_second + time->tv_nsec : INT64_MAX;
}

static inline int64_t beacon_later(int64_t time, int64_t duration) {
    int64_t sum;
    return __builtin_add_overflow(time, duration, &sum) ? INT64_MAX : sum;
}
