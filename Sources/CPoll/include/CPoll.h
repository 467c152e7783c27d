#pragma once

#include <stdint.h>

// Waits for descriptors, at most this many nanoseconds (ppoll(2)), which Swift's view of the C library lacks. Returns
// the number of ready descriptors, or -1 with errno set. The descriptors are an array of the C library's pollfd: with
// its header included here, Swift would treat the type as part of this module instead of the C library.
int beacon_wait(void *descriptors, unsigned count, int64_t nanoseconds);
