#pragma once

#include <stdint.h>

// Waits for descriptors, at most so many nanoseconds (ppoll(2)), which Swift's view of the C library lacks. Gives how
// many are ready, or -1 with errno set. The descriptors are an array of the C library's pollfd: included here, it would
// belong to this module for Swift, and not to the C library.
int beacon_wait(void *descriptors, unsigned count, int64_t nanoseconds);
