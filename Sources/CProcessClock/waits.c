#define _GNU_SOURCE
#include "clock.h"

#include "CProcessClock.h"

#include <dlfcn.h>
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct wait *waits;

bool beacon_wait_begin(
    struct wait *wait, clockid_t clock, const struct timespec *end, pthread_cond_t *condition
) {
    if (!atomic_load(&beacon_moment)) return false;
    pthread_mutex_lock(&beacon_clock_lock);
    const struct moment *now = beacon_moment;
    const int64_t *time = now && end->tv_nsec >= 0 && end->tv_nsec < beacon_second ? beacon_clock_in(now, clock) : NULL;
    if (time) {
        int64_t left = beacon_nanoseconds(end) - *time;
        *wait = (struct wait){
            .deadline = beacon_later(now->wall, left), .stop = now->stop, .condition = condition, .next = waits};
        waits = wait;
    }
    pthread_mutex_unlock(&beacon_clock_lock);
    return time != NULL;
}

void beacon_wait_end(void *argument) {
    pthread_mutex_lock(&beacon_clock_lock);
    struct wait **link = &waits;
    while (*link != argument) link = &(*link)->next;
    *link = (*link)->next;
    pthread_mutex_unlock(&beacon_clock_lock);
}

bool beacon_wait_is_due(const struct wait *wait, const struct moment *now) {
    return !now || now->stop != wait->stop || wait->deadline <= now->wall;
}

bool beacon_waits_wake(const struct moment *now) {
    bool any = false;
    for (struct wait *wait = waits; wait; wait = wait->next) {
        if (wait->polls && wait->polled != beacon_fires) any = true;
        if (!beacon_wait_is_due(wait, now)) continue;
        any = true;
        // Its thread removes the wait before it returns, so the condition still exists.
        if (wait->condition) pthread_cond_broadcast(wait->condition);
    }
    return any;
}

int64_t beacon_waits_next(const struct moment *now) {
    int64_t next = INT64_MAX;
    for (struct wait *wait = waits; wait; wait = wait->next)
        if (!beacon_wait_is_due(wait, now) && wait->deadline < next) next = wait->deadline;
    return next;
}

bool beacon_clock_has_waiting_threads(void) {
    pthread_mutex_lock(&beacon_clock_lock);
    bool has = waits != NULL;
    pthread_mutex_unlock(&beacon_clock_lock);
    return has;
}

// Returns the kernel's wall clock after a duration.
static struct timespec kernel_wall_after(int64_t duration) {
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    return beacon_timespec(beacon_later(beacon_nanoseconds(&now), duration));
}

// MARK: - Replaced functions

// True for the semaphores on which idle threads of libdispatch wait for work, for 5 seconds. Each belongs to a global
// queue, which is a variable of the library. Other semaphores are on the heap.
static bool is_of_pool(sem_t *semaphore) {
    Dl_info info;
    return dladdr(semaphore, &info) != 0;
}

static int attempt_semaphore(sem_t *semaphore, int64_t duration) {
    struct timespec time = kernel_wall_after(duration);
    return LIBRARY(sem_timedwait)(semaphore, &time) == 0 ? 0 : errno;
}

REPLACES int sem_timedwait(sem_t *semaphore, const struct timespec *time) {
    const struct moment *now = atomic_load(&beacon_moment);
    struct wait wait;
    int result;
    if (now && is_of_pool(semaphore)) {
        result = attempt_semaphore(semaphore, beacon_nanoseconds(time) - now->wall);
    } else if (beacon_wait_begin(&wait, CLOCK_REALTIME, time, NULL)) {
        BEACON_REPEAT(result, wait, attempt_semaphore(semaphore, beacon_slice));
    } else {
        return LIBRARY(sem_timedwait)(semaphore, time);
    }
    errno = result;
    return result == 0 ? 0 : -1;
}

REPLACES int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict time) {
    struct wait wait;
    if (!beacon_wait_begin(&wait, CLOCK_REALTIME, time, NULL)) return LIBRARY(pthread_mutex_timedlock)(mutex, time);
    int result;
    BEACON_REPEAT(result, wait, ({
        struct timespec soon = kernel_wall_after(beacon_slice);
        LIBRARY(pthread_mutex_timedlock)(mutex, &soon);
    }));
    return result;
}

// The clock of a condition is not visible. The two differ by decades.
static clockid_t clock_of(const struct timespec *time) {
    const struct moment *now = atomic_load(&beacon_moment);
    int64_t end = beacon_nanoseconds(time);
    return now && llabs(end - now->steady) < llabs(end - now->wall) ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

REPLACES int pthread_cond_timedwait(
    pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, const struct timespec *restrict time
) {
    struct wait wait;
    if (!beacon_wait_begin(&wait, clock_of(time), time, condition)) return LIBRARY(pthread_cond_timedwait)(condition, mutex, time);
    int result = ETIMEDOUT;
    pthread_cleanup_push(beacon_wait_end, &wait);
    if (!beacon_wait_is_due(&wait, beacon_moment)) {
        // Not in beacon_slices: a signal between two of them would be lost.
        result = pthread_cond_wait(condition, mutex);
        if (result == 0 && beacon_wait_is_due(&wait, beacon_moment)) result = ETIMEDOUT;
    }
    pthread_cleanup_pop(1);
    return result;
}

REPLACES int nanosleep(const struct timespec *duration, struct timespec *left) {
    const struct moment *now = atomic_load(&beacon_moment);
    struct timespec time = now ? beacon_timespec(beacon_later(now->steady, beacon_nanoseconds(duration))) : *duration;
    struct wait wait;
    if (!now || !beacon_wait_begin(&wait, CLOCK_MONOTONIC, &time, NULL)) return LIBRARY(nanosleep)(duration, left);
    int result;
    BEACON_REPEAT(result, wait, ({
        struct timespec soon = beacon_timespec(beacon_slice);
        LIBRARY(nanosleep)(&soon, NULL) == 0 ? ETIMEDOUT : errno;
    }));
    if (result == ETIMEDOUT) return 0;
    now = atomic_load(&beacon_moment);
    if (left) *left = beacon_timespec(beacon_wait_is_due(&wait, now) ? 0 : wait.deadline - now->wall);
    errno = result;
    return -1;
}
