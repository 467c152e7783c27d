#pragma once

#include <stddef.h>

// Linux calls about this process that Swift cannot make.

// Creates a file in memory with these bytes, to be read from its beginning (memfd_create(2)). Other programs inherit it
// only on request. Returns its descriptor, or -1 with errno set.
int beacon_memory_file(const void *bytes, size_t count);

// Makes the calling thread's permitted capabilities effective (capabilities(7)), since the file capabilities of a
// program in a container may permit more than the container allows. Returns 0, or -1 with errno set.
int beacon_take_capabilities(void);

// Withholds the capabilities of the calling thread, and of threads that it starts later, from programs that they start
// (capabilities(7): the ambient and the inheritable set). The threads keep their own capabilities. Returns 0, or -1
// with errno set.
int beacon_withhold_capabilities(void);

// The name (argv[0]) under which this executable only runs a program for an event, and ends everything that the program
// started. The arguments after it: the time limit in milliseconds, or -1 for none; the milliseconds from SIGTERM to
// SIGKILL; 1 for a separate session, otherwise 0; the file to run; the program's arguments, beginning with its own
// name.
#define BEACON_SUPERVISOR "beacon-supervisor"

// The signal that ends the supervisor if the program exceeded its time limit: a real-time signal (signal(7)). User-mode
// emulators have fewer of them than Linux.
#define BEACON_LIMIT_SIGNAL 60
