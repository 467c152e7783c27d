#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// The parts of libnats that this project uses, with the signatures and numbers of its nats.h and status.h (version
// 3.4). The library is opened at run time, on first use. Building therefore needs no -dev package, and a program that
// does not use NATS does not need the library. Only functions with opaque pointers are used, because the public
// structures differ between versions.

typedef struct __natsOptions natsOptions;
typedef struct __natsConnection natsConnection;
typedef struct __natsSubscription natsSubscription;
typedef struct __natsMsg natsMsg;

typedef enum natsStatus {
    NATS_OK = 0,
    NATS_ERR = 1,
    NATS_PROTOCOL_ERROR = 2,
    NATS_IO_ERROR = 3,
    NATS_CONNECTION_CLOSED = 5,
    NATS_NO_SERVER = 6,
    NATS_STALE_CONNECTION = 7,
    NATS_SECURE_CONNECTION_WANTED = 8,
    NATS_SECURE_CONNECTION_REQUIRED = 9,
    NATS_CONNECTION_AUTH_FAILED = 11,
    NATS_NOT_PERMITTED = 12,
    NATS_SLOW_CONSUMER = 20,
    NATS_MAX_PAYLOAD = 21,
    NATS_TIMEOUT = 26,
    NATS_SSL_ERROR = 29,
} natsStatus;

typedef void (*beacon_nats_received)(
    natsConnection *connection, natsSubscription *subscription, natsMsg *_Nullable message, void *_Nullable context);
typedef void (*beacon_nats_ended)(natsConnection *connection, void *_Nullable context);
typedef void (*beacon_nats_failed)(
    natsConnection *connection, natsSubscription *_Nullable subscription, natsStatus status, void *_Nullable context);

struct beacon_nats_functions {
    const char *_Nullable (*_Nonnull nats_GetLastError)(natsStatus *_Nullable status);
    const char *_Nonnull (*_Nonnull natsStatus_GetText)(natsStatus status);

    // Settings.
    natsStatus (*_Nonnull natsOptions_Create)(natsOptions *_Nullable *_Nonnull options);
    void (*_Nonnull natsOptions_Destroy)(natsOptions *options);
    natsStatus (*_Nonnull natsOptions_SetURL)(natsOptions *options, const char *url);
    natsStatus (*_Nonnull natsOptions_SetName)(natsOptions *options, const char *name);
    natsStatus (*_Nonnull natsOptions_SetUserInfo)(natsOptions *options, const char *user, const char *password);
    natsStatus (*_Nonnull natsOptions_SetToken)(natsOptions *options, const char *token);
    natsStatus (*_Nonnull natsOptions_SetUserCredentialsFromFiles)(
        natsOptions *options, const char *file, const char *_Nullable seed_file);
    natsStatus (*_Nonnull natsOptions_SetSecure)(natsOptions *options, bool is_secured);
    natsStatus (*_Nonnull natsOptions_LoadCATrustedCertificates)(natsOptions *options, const char *file);
    natsStatus (*_Nonnull natsOptions_LoadCertificatesChain)(
        natsOptions *options, const char *certificate_file, const char *key_file);
    natsStatus (*_Nonnull natsOptions_SetExpectedHostname)(natsOptions *options, const char *host);
    natsStatus (*_Nonnull natsOptions_SetTimeout)(natsOptions *options, int64_t milliseconds);
    natsStatus (*_Nonnull natsOptions_SetPingInterval)(natsOptions *options, int64_t milliseconds);
    natsStatus (*_Nonnull natsOptions_SetMaxPingsOut)(natsOptions *options, int count);
    natsStatus (*_Nonnull natsOptions_SetWriteDeadline)(natsOptions *options, int64_t milliseconds);
    natsStatus (*_Nonnull natsOptions_SetAllowReconnect)(natsOptions *options, bool allows);
    natsStatus (*_Nonnull natsOptions_SetClosedCB)(
        natsOptions *options, beacon_nats_ended _Nonnull callback, void *_Nullable context);
    natsStatus (*_Nonnull natsOptions_SetErrorHandler)(
        natsOptions *options, beacon_nats_failed _Nonnull callback, void *_Nullable context);

    // Connections.
    natsStatus (*_Nonnull natsConnection_Connect)(natsConnection *_Nullable *_Nonnull connection, natsOptions *options);
    void (*_Nonnull natsConnection_Close)(natsConnection *connection);
    void (*_Nonnull natsConnection_Destroy)(natsConnection *connection);
    natsStatus (*_Nonnull natsConnection_GetLastError)(
        natsConnection *connection, const char *_Nullable *_Nonnull text);
    natsStatus (*_Nonnull natsConnection_Publish)(
        natsConnection *connection, const char *subject, const void *_Nullable payload, int count);
    natsStatus (*_Nonnull natsConnection_PublishMsg)(natsConnection *connection, natsMsg *message);
    natsStatus (*_Nonnull natsConnection_Subscribe)(
        natsSubscription *_Nullable *_Nonnull subscription, natsConnection *connection, const char *subject,
        beacon_nats_received _Nonnull callback, void *_Nullable context);

    // Subscriptions.
    natsStatus (*_Nonnull natsSubscription_SetPendingLimits)(natsSubscription *subscription, int messages, int bytes);
    void (*_Nonnull natsSubscription_Destroy)(natsSubscription *subscription);

    // Messages.
    natsStatus (*_Nonnull natsMsg_Create)(
        natsMsg *_Nullable *_Nonnull message, const char *subject, const char *_Nullable reply,
        const char *_Nullable payload, int count);
    void (*_Nonnull natsMsg_Destroy)(natsMsg *message);
    const char *_Nullable (*_Nonnull natsMsg_GetSubject)(const natsMsg *message);
    const char *_Nullable (*_Nonnull natsMsg_GetReply)(const natsMsg *message);
    const char *_Nullable (*_Nonnull natsMsg_GetData)(const natsMsg *message);
    int (*_Nonnull natsMsg_GetDataLength)(const natsMsg *message);
    natsStatus (*_Nonnull natsMsgHeader_Set)(natsMsg *message, const char *name, const char *value);
    natsStatus (*_Nonnull natsMsgHeader_Get)(natsMsg *message, const char *name, const char *_Nullable *_Nonnull value);
    // The caller frees the list, but not the names in it.
    natsStatus (*_Nonnull natsMsgHeader_Keys)(
        natsMsg *message, const char *_Nullable *_Nullable *_Nonnull names, int *count);
};

// Returns the functions; or null, and the reason as a sentence. Any thread may call it. The result never changes.
const struct beacon_nats_functions *_Nullable beacon_nats_load(const char *_Nullable *_Nonnull problem);

#pragma clang assume_nonnull end
