#pragma once

#include <stddef.h>

// Calls of Linux about this process that Swift does not see.

// Has the calling thread touch files as this user and group, until it is called again with its own; the rest of the process
// goes on as before (setfsuid(2)). Gives 0, or -1 where that is not allowed, and then nothing has changed.
int beacon_use_files_as(unsigned int user, unsigned int group);

// Makes a file in memory with these bytes, to be read from its beginning (memfd_create(2)). No program that is started
// inherits it unasked. Gives its descriptor, or -1 with errno.
int beacon_memory_file(const void *bytes, size_t count);

// Has programs that the calling thread starts, or threads that it starts, inherit no capability of this process
// (capabilities(7): the ambient and the inheritable set). What the process itself may do stays. Gives 0, or -1 with errno.
int beacon_keep_capabilities(void);
