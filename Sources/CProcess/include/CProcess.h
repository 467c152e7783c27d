#pragma once

#include <stddef.h>

// Calls of Linux about this process that Swift does not see.

// Makes a file in memory with these bytes, to be read from its beginning (memfd_create(2)). No program that is started
// inherits it unasked. Gives its descriptor, or -1 with errno.
int beacon_memory_file(const void *bytes, size_t count);

// Puts into effect what the calling thread may have (capabilities(7): the permitted set), as the file of a program in a container
// permits what the container may not have. Gives 0, or -1 with errno.
int beacon_take_capabilities(void);

// Keeps the capabilities of the calling thread, and of threads that it starts from then on, from the programs that they
// start (capabilities(7): the ambient and the inheritable set). What they may do themselves stays. Gives 0, or -1 with errno.
int beacon_withhold_capabilities(void);

// The name (argv[0]) under which this executable only runs a program for an event, and ends everything that the program
// started. The arguments behind it: the time limit in milliseconds, or -1 for none; the milliseconds from SIGTERM to
// SIGKILL; 1 for a separate session, else 0; the file to run; the program's words, from its own name on.
#define BEACON_SUPERVISOR "beacon-supervisor"

// The signal that ends the supervisor where the program exceeded its time limit: a real-time one (signal(7)).
// Emulators of users' programs have fewer than Linux.
#define BEACON_LIMIT_SIGNAL 60
