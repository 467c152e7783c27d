#define _GNU_SOURCE
#include "beacon_wait.h"

#include <sys/eventfd.h>
#include <time.h>

int beacon_event_make(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void beacon_event_ring(int event) { eventfd_write(event, 1); }

void beacon_event_clear(int event) {
    eventfd_t count;
    eventfd_read(event, &count);
}

int beacon_wait(struct pollfd *descriptors, unsigned count, int64_t nanoseconds) {
    struct timespec timeout = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    return ppoll(descriptors, count, &timeout, 0);
}
