#pragma once

#include <stddef.h>

/// A text that a crash of this process writes to a file, or to standard error if the path is NULL.
struct beacon_crash_file {
    const char *path;
    const char *text;
    size_t length;
};

/// Writes these files, at most four, if a signal ends the process from now on. The memory must stay valid until the next
/// call. The handler only opens and writes files, and then lets the previous handler have the signal.
void beacon_on_crash(const struct beacon_crash_file *files, size_t count);
