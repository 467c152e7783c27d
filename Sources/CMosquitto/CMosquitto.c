#include "CMosquitto.h"

#include "CDynamicLibrary.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

static struct beacon_mosquitto_functions functions;
static char trouble[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

// The functions that tell why a certificate was refused. A libmosquitto that hides its TLS library does without them.
static struct {
    void *(*ssl_get)(mosquitto *client);
    long (*SSL_get_verify_result)(const void *connection);
    const char *(*X509_verify_cert_error_string)(long result);
} tls;
static bool has_tls;

#define SYMBOL(function) {"mosquitto_" #function, &functions.function}

static void load(void) {
    // The library's file name since version 1.0.
    static const char *const names[] = {"libmosquitto.so.1", NULL};
    const struct beacon_symbol symbols[] = {
        SYMBOL(lib_init),
        SYMBOL(new),
        SYMBOL(destroy),
        SYMBOL(user_data_set),
        SYMBOL(strerror),
        SYMBOL(reason_string),
        SYMBOL(int_option),
        SYMBOL(username_pw_set),
        SYMBOL(will_set_v5),
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
        SYMBOL(property_add_int32),
        SYMBOL(property_add_string_pair),
        SYMBOL(property_read_byte),
        SYMBOL(property_read_int16),
        SYMBOL(property_read_int32),
        SYMBOL(property_read_string),
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
    const struct beacon_library library = {
        .names = names,
        .reported_name = names[0],
        .title = "libmosquitto.so.1",
        .remark = "; it is older than 1.6",
        .symbols = symbols,
        .symbol_count = sizeof symbols / sizeof symbols[0],
    };
    if (!beacon_open_library(&library, trouble, sizeof trouble)) return;
    functions.lib_init();
    // A search in a library includes the libraries that it needs (dlsym(3)), so this is libmosquitto's own TLS library.
    const struct beacon_symbol tls_symbols[] = {
        {"mosquitto_ssl_get", &tls.ssl_get},
        {"SSL_get_verify_result", &tls.SSL_get_verify_result},
        {"X509_verify_cert_error_string", &tls.X509_verify_cert_error_string},
    };
    struct beacon_library tls_library = library;
    tls_library.symbols = tls_symbols;
    tls_library.symbol_count = sizeof tls_symbols / sizeof tls_symbols[0];
    char ignored[sizeof trouble];
    has_tls = beacon_open_library(&tls_library, ignored, sizeof ignored);
}

const struct beacon_mosquitto_functions *beacon_mosquitto_load(const char **problem) {
    pthread_once(&once, load);
    if (trouble[0]) {
        *problem = trouble;
        return NULL;
    }
    return &functions;
}

const char *beacon_mosquitto_refused_certificate(mosquitto *client) {
    void *connection = has_tls ? tls.ssl_get(client) : NULL;
    long result = connection ? tls.SSL_get_verify_result(connection) : 0;
    return result ? tls.X509_verify_cert_error_string(result) : NULL;
}

int64_t beacon_mosquitto_bytes_read(int socket, int *waiting) {
    int unread = 0;
    if (ioctl(socket, FIONREAD, &unread) != 0 || unread < 0) return -1;
    for (int attempt = 0; attempt < 8; attempt++) {
        struct tcp_info info;
        socklen_t size = sizeof info;
        int before = unread;
        if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return -1;
        // The field is available since Linux 4.1, but a sandbox may not provide it.
        if (size < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received) return -1;
        if (ioctl(socket, FIONREAD, &unread) != 0 || unread < 0) return -1;
        // The numbers are consistent only if no data arrived between the two calls.
        if (unread != before) continue;
        if (waiting) *waiting = unread;
        return (int64_t)info.tcpi_bytes_received - unread;
    }
    return -1;
}
