#include "CMosquitto.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static struct beacon_mosquitto_functions functions;
static char trouble[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

struct symbol {
    const char *name;
    void *place;
};

#define SYMBOL(function) {"mosquitto_" #function, &functions.function}

static void load(void) {
    // The name that the library has had since version 1.0.
    void *library = dlopen("libmosquitto.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(trouble, sizeof trouble, "%s", dlerror());
        return;
    }
    const struct symbol symbols[] = {
        SYMBOL(lib_init),
        SYMBOL(new),
        SYMBOL(destroy),
        SYMBOL(user_data_set),
        SYMBOL(strerror),
        SYMBOL(int_option),
        SYMBOL(username_pw_set),
        SYMBOL(will_set),
        SYMBOL(tls_set),
        SYMBOL(connect_bind_v5),
        SYMBOL(disconnect_v5),
        SYMBOL(socket),
        SYMBOL(want_write),
        SYMBOL(loop_read),
        SYMBOL(loop_write),
        SYMBOL(loop_misc),
        SYMBOL(publish_v5),
        SYMBOL(subscribe_v5),
        SYMBOL(unsubscribe),
        SYMBOL(property_add_string_pair),
        SYMBOL(property_read_string_pair),
        SYMBOL(property_free_all),
        SYMBOL(connect_v5_callback_set),
        SYMBOL(disconnect_v5_callback_set),
        SYMBOL(publish_v5_callback_set),
        SYMBOL(subscribe_v5_callback_set),
        SYMBOL(unsubscribe_v5_callback_set),
        SYMBOL(message_v5_callback_set),
        SYMBOL(log_callback_set),
    };
    for (size_t index = 0; index < sizeof symbols / sizeof symbols[0]; index++) {
        // POSIX has dlsym give functions as pointers to data; writing them through such a pointer is its own way out.
        void *address = dlsym(library, symbols[index].name);
        if (!address) {
            snprintf(trouble, sizeof trouble, "libmosquitto.so.1 has no %s; it is older than 1.6", symbols[index].name);
            return;
        }
        *(void **)symbols[index].place = address;
    }
    functions.lib_init();
}

const struct beacon_mosquitto_functions *beacon_mosquitto_load(const char **problem) {
    pthread_once(&once, load);
    if (trouble[0]) {
        *problem = trouble;
        return NULL;
    }
    return &functions;
}
