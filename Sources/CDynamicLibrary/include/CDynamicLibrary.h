#pragma once

#include <stdbool.h>
#include <stddef.h>

// A loader for libraries that a program opens at run time, so that it runs without those that it does not need.

#pragma clang assume_nonnull begin

// A function of a library: its name, and the variable that receives its address.
struct beacon_symbol {
    const char *name;
    void *variable;
};

// A library to open.
struct beacon_library {
    // The file names to try in turn, with NULL at the end.
    const char *_Nullable const *_Nonnull names;
    // The name whose error is reported if none of the names can be opened.
    const char *reported_name;
    // The library's name in a sentence, and the meaning of a missing function: "; it is older than 3.4", or an empty
    // string.
    const char *title;
    const char *remark;
    const struct beacon_symbol *symbols;
    size_t symbol_count;
};

// Opens a library and looks up its functions. The library stays open until the process ends.
// Returns false if that fails, and writes a sentence with the cause to `problem`.
bool beacon_open_library(const struct beacon_library *library, char *problem, size_t size);

#pragma clang assume_nonnull end
