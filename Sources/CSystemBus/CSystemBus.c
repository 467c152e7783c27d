#include "CSystemBus.h"

#include "CDynamicLibrary.h"

#include <pthread.h>

static struct beacon_bus_functions functions;
static char trouble[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define SYMBOL(function) {"sd_bus_" #function, &functions.function}

static void load(void) {
    // The library has had this name since sd-bus became public in version 221 of systemd.
    static const char *const names[] = {"libsystemd.so.0", NULL};
    const struct beacon_symbol symbols[] = {
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
    const struct beacon_library library = {
        .names = names,
        .reported_name = names[0],
        .title = "libsystemd.so.0",
        .remark = "",
        .symbols = symbols,
        .symbol_count = sizeof symbols / sizeof symbols[0],
    };
    beacon_open_library(&library, trouble, sizeof trouble);
}

const struct beacon_bus_functions *beacon_bus_load(const char **problem) {
    pthread_once(&once, load);
    if (trouble[0]) {
        *problem = trouble;
        return NULL;
    }
    return &functions;
}
