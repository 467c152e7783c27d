#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// The parts of libmosquitto that this project uses, with the signatures and numbers of its mosquitto.h and
// mqtt_protocol.h (version 2.0). The library is opened at run time, on first use. Building therefore needs no -dev
// package, and a program that does not use a broker does not need the library.

typedef struct mosquitto mosquitto;
typedef struct mqtt5__property mosquitto_property;

// A public structure.
typedef struct mosquitto_message {
    int mid;
    char *_Nullable topic;
    void *_Nullable payload;
    int payloadlen;
    int qos;
    bool retain;
} mosquitto_message;

enum mosq_err_t {
    MOSQ_ERR_CONN_PENDING = -1,
    MOSQ_ERR_SUCCESS = 0,
    MOSQ_ERR_PROTOCOL = 2,
    MOSQ_ERR_INVAL = 3,
    MOSQ_ERR_CONN_REFUSED = 5,
    MOSQ_ERR_CONN_LOST = 7,
    MOSQ_ERR_TLS = 8,
    MOSQ_ERR_PAYLOAD_SIZE = 9,
    MOSQ_ERR_NOT_SUPPORTED = 10,
    MOSQ_ERR_ERRNO = 14,
    MOSQ_ERR_EAI = 15,
    MOSQ_ERR_MALFORMED_UTF8 = 18,
    MOSQ_ERR_KEEPALIVE = 19,
    MOSQ_ERR_LOOKUP = 20,
    MOSQ_ERR_TLS_HANDSHAKE = 23,
    MOSQ_ERR_QOS_NOT_SUPPORTED = 24,
    MOSQ_ERR_OVERSIZE_PACKET = 25,
    MOSQ_ERR_OCSP = 26,
    MOSQ_ERR_RETAIN_NOT_SUPPORTED = 28,
};

enum mosq_opt_t {
    MOSQ_OPT_PROTOCOL_VERSION = 1,
    MOSQ_OPT_SEND_MAXIMUM = 5,
    MOSQ_OPT_TCP_NODELAY = 11,
};

#define MOSQ_LOG_ERR 8
#define MQTT_PROTOCOL_V311 4
#define MQTT_PROTOCOL_V5 5
// MQTT 5.0, 3.14.2.1.
#define MQTT_RC_DISCONNECT_WITH_WILL_MSG 4
// MQTT 5.0, 2.2.2.2.
#define MQTT_PROP_SESSION_EXPIRY_INTERVAL 17
#define MQTT_PROP_SERVER_KEEP_ALIVE 19
#define MQTT_PROP_WILL_DELAY_INTERVAL 24
#define MQTT_PROP_REASON_STRING 31
#define MQTT_PROP_RECEIVE_MAXIMUM 33
#define MQTT_PROP_MAXIMUM_QOS 36
#define MQTT_PROP_RETAIN_AVAILABLE 37
#define MQTT_PROP_USER_PROPERTY 38
#define MQTT_PROP_MAXIMUM_PACKET_SIZE 39

typedef void (*beacon_mosquitto_result)(
    mosquitto *client, void *_Nullable context, int code, int flags, const mosquitto_property *_Nullable properties);
typedef void (*beacon_mosquitto_end)(
    mosquitto *client, void *_Nullable context, int code, const mosquitto_property *_Nullable properties);
typedef void (*beacon_mosquitto_published)(
    mosquitto *client, void *_Nullable context, int request, int code,
    const mosquitto_property *_Nullable properties);
typedef void (*beacon_mosquitto_subscribed)(
    mosquitto *client, void *_Nullable context, int request, int count, const int *_Nullable granted,
    const mosquitto_property *_Nullable properties);
typedef void (*beacon_mosquitto_unsubscribed)(
    mosquitto *client, void *_Nullable context, int request, const mosquitto_property *_Nullable properties);
typedef void (*beacon_mosquitto_received)(
    mosquitto *client, void *_Nullable context, const mosquitto_message *_Nullable message,
    const mosquitto_property *_Nullable properties);
typedef void (*beacon_mosquitto_logged)(
    mosquitto *client, void *_Nullable context, int level, const char *_Nullable text);

struct beacon_mosquitto_functions {
    int (*_Nonnull lib_init)(void);
    mosquitto *_Nullable (*_Nonnull new)(const char *_Nullable id, bool is_clean, void *_Nullable context);
    void (*_Nonnull destroy)(mosquitto *client);
    void (*_Nonnull user_data_set)(mosquitto *client, void *_Nullable context);
    const char *_Nonnull (*_Nonnull strerror)(int code);
    const char *_Nonnull (*_Nonnull reason_string)(int code);

    // Settings.
    int (*_Nonnull int_option)(mosquitto *client, enum mosq_opt_t option, int value);
    int (*_Nonnull username_pw_set)(mosquitto *client, const char *_Nullable user, const char *_Nullable password);
    // The client owns the properties if it succeeds.
    int (*_Nonnull will_set_v5)(
        mosquitto *client, const char *topic, int count, const void *_Nullable payload, int quality, bool is_retained,
        mosquitto_property *_Nullable properties);
    int (*_Nonnull tls_set)(
        mosquitto *client, const char *_Nullable authority_file, const char *_Nullable authority_folder,
        const char *_Nullable certificate_file, const char *_Nullable key_file,
        int (*_Nullable password)(char *buffer, int size, int direction, void *_Nullable context));

    // Connections.
    int (*_Nonnull connect_bind_v5)(
        mosquitto *client, const char *host, int port, int keep_alive, const char *_Nullable address,
        const mosquitto_property *_Nullable properties);
    int (*_Nonnull disconnect_v5)(mosquitto *client, int reason, const mosquitto_property *_Nullable properties);
    int (*_Nonnull socket)(mosquitto *client);
    bool (*_Nonnull want_write)(mosquitto *client);
    int (*_Nonnull loop_read)(mosquitto *client, int packets);
    int (*_Nonnull loop_write)(mosquitto *client, int packets);
    int (*_Nonnull loop_misc)(mosquitto *client);

    // Messages.
    int (*_Nonnull publish_v5)(
        mosquitto *client, int *_Nullable request, const char *topic, int count, const void *_Nullable payload,
        int quality, bool is_retained, const mosquitto_property *_Nullable properties);
    int (*_Nonnull subscribe_v5)(
        mosquitto *client, int *_Nullable request, const char *filter, int quality, int options,
        const mosquitto_property *_Nullable properties);
    int (*_Nonnull unsubscribe)(mosquitto *client, int *_Nullable request, const char *filter);
    int (*_Nonnull property_add_int32)(
        mosquitto_property *_Nullable *_Nonnull properties, int identifier, uint32_t value);
    int (*_Nonnull property_add_string_pair)(
        mosquitto_property *_Nullable *_Nonnull properties, int identifier, const char *name, const char *value);
    const mosquitto_property *_Nullable (*_Nonnull property_read_byte)(
        const mosquitto_property *_Nullable properties, int identifier, uint8_t *value, bool skips_first);
    const mosquitto_property *_Nullable (*_Nonnull property_read_int16)(
        const mosquitto_property *_Nullable properties, int identifier, uint16_t *value, bool skips_first);
    const mosquitto_property *_Nullable (*_Nonnull property_read_int32)(
        const mosquitto_property *_Nullable properties, int identifier, uint32_t *value, bool skips_first);
    // The caller frees the texts.
    const mosquitto_property *_Nullable (*_Nonnull property_read_string)(
        const mosquitto_property *_Nullable properties, int identifier, char *_Nullable *_Nonnull value,
        bool skips_first);
    const mosquitto_property *_Nullable (*_Nonnull property_read_string_pair)(
        const mosquitto_property *_Nullable properties, int identifier, char *_Nullable *_Nonnull name,
        char *_Nullable *_Nonnull value, bool skips_first);
    void (*_Nonnull property_free_all)(mosquitto_property *_Nullable *_Nonnull properties);

    // Callbacks, which the functions of a connection call.
    void (*_Nonnull connect_v5_callback_set)(mosquitto *client, beacon_mosquitto_result _Nonnull callback);
    void (*_Nonnull disconnect_v5_callback_set)(mosquitto *client, beacon_mosquitto_end _Nonnull callback);
    void (*_Nonnull publish_v5_callback_set)(mosquitto *client, beacon_mosquitto_published _Nonnull callback);
    void (*_Nonnull subscribe_v5_callback_set)(mosquitto *client, beacon_mosquitto_subscribed _Nonnull callback);
    void (*_Nonnull unsubscribe_v5_callback_set)(mosquitto *client, beacon_mosquitto_unsubscribed _Nonnull callback);
    void (*_Nonnull message_v5_callback_set)(mosquitto *client, beacon_mosquitto_received _Nonnull callback);
    void (*_Nonnull log_callback_set)(mosquitto *client, beacon_mosquitto_logged _Nonnull callback);
};

// Returns the functions; or null, and the reason as a sentence. Any thread may call it. The result never changes.
const struct beacon_mosquitto_functions *_Nullable beacon_mosquitto_load(const char *_Nullable *_Nonnull problem);

// Returns the reason for which the TLS library refused the broker's certificate (X509_verify_cert_error_string(3)); null
// if it accepted the certificate, and if the reason is not known. Only a callback of the library may call it.
const char *_Nullable beacon_mosquitto_refused_certificate(mosquitto *client);

// Returns the number of bytes read from a TCP socket since it connected. It is negative if the system does not count
// them, or if data arrives too fast for a consistent number. Otherwise `waiting` is set to the number of bytes that
// wait to be read.
int64_t beacon_mosquitto_bytes_read(int socket, int *_Nullable waiting);

#pragma clang assume_nonnull end
