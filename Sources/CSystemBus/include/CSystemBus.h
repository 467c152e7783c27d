#pragma once

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// The functions of libsystemd's sd-bus in use, with the signatures of its manual pages (sd_bus_open_system(3) and so
// on). The library is opened on first use, so that building needs no -dev package and a program without a bus needs no
// library.

typedef struct sd_bus sd_bus;
typedef struct sd_bus_message sd_bus_message;
typedef struct sd_bus_slot sd_bus_slot;

// sd-bus-errors(3): a public structure.
typedef struct sd_bus_error {
    const char *_Nullable name;
    const char *_Nullable message;
    int needs_free;
} sd_bus_error;

// A negative return value is an error number.
typedef int (*beacon_bus_handler)(
    sd_bus_message *message, void *_Nullable context, sd_bus_error *_Nullable error);

struct beacon_bus_functions {
    // Connections.
    int (*_Nonnull open_system)(sd_bus *_Nullable *_Nonnull bus);
    int (*_Nonnull new)(sd_bus *_Nullable *_Nonnull bus);
    int (*_Nonnull set_address)(sd_bus *bus, const char *address);
    int (*_Nonnull set_bus_client)(sd_bus *bus, int is_client);
    int (*_Nonnull start)(sd_bus *bus);
    sd_bus *_Nullable (*_Nonnull close_unref)(sd_bus *_Nullable bus);
    int (*_Nonnull flush)(sd_bus *bus);
    int (*_Nonnull get_fd)(sd_bus *bus);
    int (*_Nonnull get_events)(sd_bus *bus);
    int (*_Nonnull get_timeout)(sd_bus *bus, uint64_t *microseconds);
    int (*_Nonnull process)(sd_bus *bus, sd_bus_message *_Nullable *_Nullable message);
    int (*_Nonnull wait)(sd_bus *bus, uint64_t microseconds);

    // Calls, signals and objects.
    int (*_Nonnull send)(sd_bus *_Nullable bus, sd_bus_message *message, uint64_t *_Nullable cookie);
    int (*_Nonnull call_async)(
        sd_bus *bus, sd_bus_slot *_Nullable *_Nonnull slot, sd_bus_message *message, beacon_bus_handler _Nonnull handler,
        void *_Nullable context, uint64_t microseconds);
    int (*_Nonnull add_match_async)(
        sd_bus *bus, sd_bus_slot *_Nullable *_Nonnull slot, const char *rule, beacon_bus_handler _Nonnull handler,
        beacon_bus_handler _Nullable installed, void *_Nullable context);
    int (*_Nonnull add_object)(
        sd_bus *bus, sd_bus_slot *_Nullable *_Nonnull slot, const char *path, beacon_bus_handler _Nonnull handler,
        void *_Nullable context);
    sd_bus_slot *_Nullable (*_Nonnull slot_unref)(sd_bus_slot *_Nullable slot);

    // Messages.
    int (*_Nonnull message_new_method_call)(
        sd_bus *bus, sd_bus_message *_Nullable *_Nonnull message, const char *destination, const char *path,
        const char *interface, const char *member);
    int (*_Nonnull message_new_signal)(
        sd_bus *bus, sd_bus_message *_Nullable *_Nonnull message, const char *path, const char *interface,
        const char *member);
    int (*_Nonnull message_new_method_return)(
        sd_bus_message *call, sd_bus_message *_Nullable *_Nonnull message);
    int (*_Nonnull message_new_method_error)(
        sd_bus_message *call, sd_bus_message *_Nullable *_Nonnull message, const sd_bus_error *error);
    sd_bus_message *_Nonnull (*_Nonnull message_ref)(sd_bus_message *message);
    sd_bus_message *_Nullable (*_Nonnull message_unref)(sd_bus_message *_Nullable message);
    const char *_Nullable (*_Nonnull message_get_path)(sd_bus_message *message);
    const char *_Nullable (*_Nonnull message_get_interface)(sd_bus_message *message);
    const char *_Nullable (*_Nonnull message_get_member)(sd_bus_message *message);
    const char *_Nullable (*_Nonnull message_get_sender)(sd_bus_message *message);
    const sd_bus_error *_Nullable (*_Nonnull message_get_error)(sd_bus_message *message);

    // Contents of messages.
    int (*_Nonnull message_append_basic)(sd_bus_message *message, char type, const void *value);
    int (*_Nonnull message_append_array)(
        sd_bus_message *message, char type, const void *_Nullable values, size_t size);
    int (*_Nonnull message_open_container)(sd_bus_message *message, char type, const char *_Nullable contents);
    int (*_Nonnull message_close_container)(sd_bus_message *message);
    int (*_Nonnull message_read_basic)(sd_bus_message *message, char type, void *value);
    int (*_Nonnull message_read_array)(
        sd_bus_message *message, char type, const void *_Nullable *_Nonnull values, size_t *size);
    int (*_Nonnull message_enter_container)(
        sd_bus_message *message, char type, const char *_Nullable contents);
    int (*_Nonnull message_exit_container)(sd_bus_message *message);
    int (*_Nonnull message_peek_type)(
        sd_bus_message *message, char *type, const char *_Nullable *_Nonnull contents);
    int (*_Nonnull message_skip)(sd_bus_message *message, const char *_Nullable types);
};

// Returns the functions, or NULL and a sentence with the cause. Thread-safe; the result is always the same.
const struct beacon_bus_functions *_Nullable beacon_bus_load(const char *_Nullable *_Nonnull problem);

#pragma clang assume_nonnull end
