#pragma once

#include <stddef.h>

// A file that is linked into the program.
struct beacon_console_file {
    const char *name;
    const unsigned char *content;
    size_t size;
};

// Returns the console's files (the page, its styles and its scripts) and the description of the interface.
const struct beacon_console_file *beacon_console_files(size_t *count);
