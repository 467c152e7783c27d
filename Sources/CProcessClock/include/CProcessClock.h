#pragma once

#include <stdbool.h>
#include <stdint.h>

// The clock that the libraries of this process read: Swift's runtime, libdispatch and Foundation.
//
// This module defines functions of the C library, such as clock_gettime and timerfd_settime. Linked into a program, they
// take the place of the library's own, since the dynamic linker prefers the program's symbols. They call the library's
// functions until a test stops the clock. From then on, clocks move only in beacon_clock_move, and what waits for a time
// (timer descriptors, semaphores, conditions, timed locks, nanosleep) waits for that.
//
// Times are in nanoseconds. A time of the wall clock counts from 1970.

// Returns the name of the first function whose definition is not this module's or whose replaced definition is not the C
// library's, and in `file` the file of the other definition. Returns null if the clock can be controlled.
const char *beacon_clock_obstacle(const char **file);

// Stops all clocks, and sets the wall clock. The steady clocks keep their time.
void beacon_clock_stop(int64_t wall);

// Moves all clocks forward to a time of the wall clock. Timers that are due then fire. It never moves the clocks back.
void beacon_clock_move(int64_t wall);

// Lets the clocks run again: the wall clock with the kernel's time, and the steady clocks without a step back. Timers
// keep the time that they have left.
void beacon_clock_release(void);

// Returns the earliest time of the wall clock for which something in the process waits; INT64_MAX without one.
int64_t beacon_clock_next(void);

// Returns true if a thread waits for a semaphore, a condition or a lock with a time-out, or sleeps.
bool beacon_clock_has_waiting_threads(void);

// Returns true if there was a moment, after the call began, when all other threads of the process slept, and none
// had to wake because of the time. Only the kernel or another process can have changed that since.
bool beacon_process_is_idle(void);

// Returns true if code on the main queue has used the main run loop instead of a thread's own one.
bool beacon_main_loop_is_used(void);

// Returns the kernel's steady clock by a system call. It always runs.
int64_t beacon_kernel_time(void);
