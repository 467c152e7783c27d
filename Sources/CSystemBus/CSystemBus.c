#include "CSystemBus.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static struct beacon_bus_functions functions;
static char trouble[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

struct symbol {
    const char *name;
    void *place;
};

#define SYMBOL(function) {"sd_bus_" #function, &functions.function}

static void load(void) {
    // The name that the library has had since sd-bus became public in version 221 of systemd.
    void *library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(trouble, sizeof trouble, "%s", dlerror());
        return;
    }
    const struct symbol symbols[] = {
        SYMBOL(open_system),
        SYMBOL(new),
        SYMBOL(set_address),
        SYMBOL(set_bus_client),
        SYMBOL(start),
        SYMBOL(close_unref),
        SYMBOL(flush),
        SYMBOL(get_fd),
        SYMBOL(get_events),
        SYMBOL(get_timeout),
        SYMBOL(process),
        SYMBOL(wait),
        SYMBOL(send),
        SYMBOL(call_async),
        SYMBOL(add_match_async),
        SYMBOL(add_object),
        SYMBOL(slot_unref),
        SYMBOL(message_new_method_call),
        SYMBOL(message_new_signal),
        SYMBOL(message_new_method_return),
        SYMBOL(message_new_method_error),
        SYMBOL(message_ref),
        SYMBOL(message_unref),
        SYMBOL(message_get_path),
        SYMBOL(message_get_interface),
        SYMBOL(message_get_member),
        SYMBOL(message_get_sender),
        SYMBOL(message_get_error),
        SYMBOL(message_append_basic),
        SYMBOL(message_append_array),
        SYMBOL(message_open_container),
        SYMBOL(message_close_container),
        SYMBOL(message_read_basic),
        SYMBOL(message_read_array),
        SYMBOL(message_enter_container),
        SYMBOL(message_exit_container),
        SYMBOL(message_peek_type),
        SYMBOL(message_skip),
    };
    for (size_t index = 0; index < sizeof symbols / sizeof symbols[0]; index++) {
        // POSIX has dlsym give functions as pointers to data; writing them through such a pointer is its own way out.
        void *address = dlsym(library, symbols[index].name);
        if (!address) {
            snprintf(trouble, sizeof trouble, "libsystemd.so.0 has no %s", symbols[index].name);
            return;
        }
        *(void **)symbols[index].place = address;
    }
}

const struct beacon_bus_functions *beacon_bus_load(const char **problem) {
    pthread_once(&once, load);
    if (trouble[0]) {
        *problem = trouble;
        return NULL;
    }
    return &functions;
}
