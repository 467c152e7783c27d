#pragma once

#include <stddef.h>

// A file that lies in the program.
struct beacon_console_file {
    const char *name;
    const unsigned char *content;
    size_t size;
};

// The files of the console: the page, its styles, its scripts.
const struct beacon_console_file *beacon_console_files(size_t *count);
