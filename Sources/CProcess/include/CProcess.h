#pragma once

#include <stddef.h>
#include <sys/types.h>

// Linux calls about this process that Swift cannot make.

// Raises the number of descriptors that this process may open to the highest that it may choose. Programs that it starts
// get the earlier limit. Call it before there is a second thread.
void beacon_raise_file_limit(void);

// The limit before beacon_raise_file_limit, or -1 if it is the present one.
long beacon_earlier_file_limit(void);

// Makes the calling thread's permitted capabilities effective (capabilities(7)), since the file capabilities of a
// program in a container may permit more than the container allows. Returns 0, or -1 with errno set.
int beacon_take_capabilities(void);

// Withholds the capabilities of the calling thread, and of threads that it starts later, from programs that they start
// (capabilities(7): the ambient and the inheritable set). The threads keep their own capabilities. Returns 0, or -1
// with errno set.
int beacon_withhold_capabilities(void);

// The name (argv[0]) under which this executable only runs a program for an event, and ends everything that the program
// started. The arguments after it: the time limit in milliseconds, or -1 for none; the milliseconds from SIGTERM to
// SIGKILL; 1 for a separate session, otherwise 0; the number of descriptors that the program may open, or -1 for this
// process's; the file to run; the program's arguments, beginning with its own name.
#define BEACON_SUPERVISOR "beacon-supervisor"

// The receiver of a supervisor's output, which is called on a separate thread.
struct beacon_receiver {
    void *context;
    // Called with each piece of output.
    void (*receive)(void *context, const void *bytes, size_t count);
    // Called once, when the process has ended. It stays in the process table until waitpid(2).
    void (*end)(void *context);
};

// Starts the supervisor with arguments, beginning with its name, and a standard input that has these bytes. Both outputs
// go to the receiver, or to this process's standard error.
//
// The call takes all descriptors and the thread before it starts the process, so that it starts the supervisor whole or
// has no effect. It leaves some descriptors to the rest of this process: EMFILE can also mean that few are left. Returns
// 0, or a number of errno.
int beacon_start_supervisor(
    pid_t *process, char *const words[], char *const environment[], const char *folder, const void *input, size_t count,
    int has_output, struct beacon_receiver receiver);

// The signal that ends the supervisor if the program exceeded its time limit: a real-time signal (signal(7)). User-mode
// emulators have fewer of them than Linux.
#define BEACON_LIMIT_SIGNAL 60
