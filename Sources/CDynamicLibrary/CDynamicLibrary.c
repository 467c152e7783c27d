#include "CDynamicLibrary.h"

#include <dlfcn.h>
#include <stdio.h>

bool beacon_open_library(const struct beacon_library *library, char *problem, size_t size) {
    void *handle = NULL;
    for (const char *const *name = library->names; !handle && *name; name++) {
        handle = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
    }
    // dlerror has the last name's error. Report the error for the name that helps users most.
    if (!handle) handle = dlopen(library->reported_name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        snprintf(problem, size, "%s", dlerror());
        return false;
    }
    for (size_t index = 0; index < library->symbol_count; index++) {
        const struct beacon_symbol *symbol = &library->symbols[index];
        // POSIX makes dlsym return functions as data pointers. Its own example writes them this way.
        void *address = dlsym(handle, symbol->name);
        if (!address) {
            snprintf(problem, size, "%s has no %s%s", library->title, symbol->name, library->remark);
            return false;
        }
        *(void **)symbol->variable = address;
    }
    return true;
}
