#pragma once

#include <poll.h>
#include <stdint.h>

// Waits for descriptors, at most so many nanoseconds (ppoll(2)), which Swift's view of the C library lacks. Gives how
// many are ready, or -1 with errno set.
int beacon_wait(struct pollfd *descriptors, unsigned count, int64_t nanoseconds);
