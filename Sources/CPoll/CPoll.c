#define _GNU_SOURCE
#include "CPoll.h"

#include <poll.h>
#include <time.h>

int beacon_wait(void *descriptors, unsigned count, int64_t nanoseconds) {
    struct timespec timeout = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    return ppoll(descriptors, count, &timeout, 0);
}
