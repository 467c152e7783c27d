#define _GNU_SOURCE
#include "clock.h"

#include <errno.h>
#include <poll.h>
#include <sys/timerfd.h>

// A timer descriptor. libdispatch has one for each clock, and Foundation one for each mode of a run loop.
struct timer {
    clockid_t clock;
    // False for a descriptor that no timer was made for, or whose number something else has now.
    bool is_known;
    // In the timer's clock, while the clocks are stopped; 0 if it is not armed.
    int64_t deadline, interval;
};

// By descriptor. A timer with a higher one follows the kernel's clock; programs have a thousand descriptors by default.
static struct timer timers[1 << 16];
static int timers_end;

_Atomic unsigned beacon_fires;

static struct timer *find(int descriptor) {
    return descriptor >= 0 && descriptor < timers_end && timers[descriptor].is_known ? &timers[descriptor] : NULL;
}

static int64_t time_of(const struct timer *timer, const struct moment *now) {
    const int64_t *time = beacon_clock_in(now, timer->clock);
    return time ? *time : 0;
}

// Arms the kernel's timer; disarms it if the duration is 0.
static int arm(int descriptor, int64_t duration, int64_t interval) {
    struct itimerspec times = {.it_value = beacon_timespec(duration), .it_interval = beacon_timespec(interval)};
    return LIBRARY(timerfd_settime)(descriptor, 0, &times, NULL);
}

// Makes the descriptor readable if its time has come. Intervals that have passed together count once.
static void fire_if_due(int descriptor, const struct moment *now) {
    struct timer *timer = &timers[descriptor];
    int64_t late = time_of(timer, now) - timer->deadline;
    if (timer->deadline == 0 || late < 0) return;
    timer->deadline = timer->interval ? beacon_later(timer->deadline, (late / timer->interval + 1) * timer->interval) : 0;
    if (arm(descriptor, 1, 0) != 0) {
        timer->is_known = false;
        return;
    }
    beacon_fires++;
    // The kernel's interrupt comes within microseconds. A reader may be faster than this call.
    struct pollfd ready = {.fd = descriptor, .events = POLLIN};
    poll(&ready, 1, 1);
}

// Calls `body` with each `descriptor` and `timer`.
#define FOR_EACH_TIMER(body)                                                       \
    for (int descriptor = 0; descriptor < timers_end; descriptor++) {              \
        struct timer *timer = &timers[descriptor];                                 \
        if (timer->is_known) body                                                  \
    }

void beacon_timers_stop(const struct moment *now) {
    FOR_EACH_TIMER({
        struct itimerspec left;
        timer->deadline = 0;
        if (LIBRARY(timerfd_gettime)(descriptor, &left) != 0) {
            timer->is_known = false;
        } else if (beacon_nanoseconds(&left.it_value) != 0) {
            timer->deadline = beacon_later(time_of(timer, now), beacon_nanoseconds(&left.it_value));
            timer->interval = beacon_nanoseconds(&left.it_interval);
            arm(descriptor, 0, 0);
        }
    })
}

void beacon_timers_fire(const struct moment *now) {
    FOR_EACH_TIMER({ fire_if_due(descriptor, now); })
}

void beacon_timers_release(const struct moment *now) {
    FOR_EACH_TIMER({
        if (timer->deadline != 0) arm(descriptor, timer->deadline - time_of(timer, now), timer->interval);
    })
}

int64_t beacon_timers_next(const struct moment *now) {
    int64_t next = INT64_MAX;
    FOR_EACH_TIMER({
        if (timer->deadline != 0) {
            int64_t time = beacon_later(now->wall, timer->deadline - time_of(timer, now));
            if (time < next) next = time;
        }
    })
    return next;
}

// MARK: - Replaced functions

REPLACES int timerfd_create(clockid_t clock, int flags) {
    int descriptor = LIBRARY(timerfd_create)(clock, flags);
    if (descriptor < 0 || descriptor >= (int)(sizeof timers / sizeof *timers)) return descriptor;
    pthread_mutex_lock(&beacon_clock_lock);
    timers[descriptor] = (struct timer){.clock = clock, .is_known = true};
    if (descriptor >= timers_end) timers_end = descriptor + 1;
    pthread_mutex_unlock(&beacon_clock_lock);
    return descriptor;
}

static void get_left(const struct timer *timer, const struct moment *now, struct itimerspec *left) {
    int64_t duration = timer->deadline == 0 ? 0 : timer->deadline - time_of(timer, now);
    *left = (struct itimerspec){.it_value = beacon_timespec(duration), .it_interval = beacon_timespec(timer->interval)};
}

static bool is_valid(const struct timespec *time) {
    return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < beacon_second;
}

static int set_stopped(
    int descriptor, int flags, const struct itimerspec *new, struct itimerspec *old, const struct moment *now
) {
    struct timer *timer = &timers[descriptor];
    struct itimerspec left;
    get_left(timer, now, &left);
    if (!is_valid(&new->it_value) || !is_valid(&new->it_interval)) {
        errno = EINVAL;
        return -1;
    }
    if (arm(descriptor, 0, 0) != 0) return -1;
    if (old) *old = left;
    int64_t value = beacon_nanoseconds(&new->it_value);
    bool is_absolute = flags & TFD_TIMER_ABSTIME;
    timer->deadline = value == 0 || is_absolute ? value : beacon_later(time_of(timer, now), value);
    timer->interval = beacon_nanoseconds(&new->it_interval);
    fire_if_due(descriptor, now);
    return 0;
}

static int set_running(int descriptor, int flags, const struct itimerspec *new, struct itimerspec *old) {
    struct timer *timer = find(descriptor);
    int64_t ahead = timer && flags & TFD_TIMER_ABSTIME ? beacon_clock_lead(timer->clock) : 0;
    if (ahead == 0 || !new || !is_valid(&new->it_value)) return LIBRARY(timerfd_settime)(descriptor, flags, new, old);
    int64_t value = beacon_nanoseconds(&new->it_value);
    struct itimerspec times = *new;
    // 0 would disarm it.
    if (value != 0) times.it_value = beacon_timespec(value > ahead ? value - ahead : 1);
    return LIBRARY(timerfd_settime)(descriptor, flags, &times, old);
}

REPLACES int timerfd_settime(int descriptor, int flags, const struct itimerspec *new, struct itimerspec *old) {
    pthread_mutex_lock(&beacon_clock_lock);
    const struct moment *now = beacon_moment;
    bool is_stopped = now && new && find(descriptor);
    int result = is_stopped ? set_stopped(descriptor, flags, new, old, now) : set_running(descriptor, flags, new, old);
    pthread_mutex_unlock(&beacon_clock_lock);
    return result;
}

REPLACES int timerfd_gettime(int descriptor, struct itimerspec *left) {
    pthread_mutex_lock(&beacon_clock_lock);
    const struct moment *now = beacon_moment;
    const struct timer *timer = now ? find(descriptor) : NULL;
    int result = LIBRARY(timerfd_gettime)(descriptor, left);
    if (result == 0 && timer) get_left(timer, now, left);
    pthread_mutex_unlock(&beacon_clock_lock);
    return result;
}
