#include "CNATS.h"

#include "CDynamicLibrary.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>

static struct beacon_nats_functions functions;
static char trouble[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define SYMBOL(function) {#function, &functions.function}

// The library's file name contains its minor version, although the functions used here have not changed since 3.4. The
// version of Debian 12 comes first, then later versions.
static const char *const names[] = {
    "libnats.so.3.4",  "libnats.so.3.14", "libnats.so.3.13", "libnats.so.3.12", "libnats.so.3.11", "libnats.so.3.10",
    "libnats.so.3.9",  "libnats.so.3.8",  "libnats.so.3.7",  "libnats.so.3.6",  "libnats.so.3.5",  "libnats.so", NULL,
};

static void load(void) {
    natsStatus (*nats_Open)(int64_t) = NULL;
    const struct beacon_symbol symbols[] = {
        {"nats_Open", &nats_Open},
        SYMBOL(nats_GetLastError),
        SYMBOL(natsStatus_GetText),
        SYMBOL(natsOptions_Create),
        SYMBOL(natsOptions_Destroy),
        SYMBOL(natsOptions_SetURL),
        SYMBOL(natsOptions_SetName),
        SYMBOL(natsOptions_SetUserInfo),
        SYMBOL(natsOptions_SetToken),
        SYMBOL(natsOptions_SetUserCredentialsFromFiles),
        SYMBOL(natsOptions_SetSecure),
        SYMBOL(natsOptions_LoadCATrustedCertificates),
        SYMBOL(natsOptions_LoadCertificatesChain),
        SYMBOL(natsOptions_SetExpectedHostname),
        SYMBOL(natsOptions_SetTimeout),
        SYMBOL(natsOptions_SetPingInterval),
        SYMBOL(natsOptions_SetMaxPingsOut),
        SYMBOL(natsOptions_SetWriteDeadline),
        SYMBOL(natsOptions_SetAllowReconnect),
        SYMBOL(natsOptions_SetClosedCB),
        SYMBOL(natsOptions_SetErrorHandler),
        SYMBOL(natsConnection_Connect),
        SYMBOL(natsConnection_Close),
        SYMBOL(natsConnection_Destroy),
        SYMBOL(natsConnection_GetLastError),
        SYMBOL(natsConnection_Publish),
        SYMBOL(natsConnection_PublishMsg),
        SYMBOL(natsConnection_Subscribe),
        SYMBOL(natsSubscription_SetPendingLimits),
        SYMBOL(natsSubscription_Destroy),
        SYMBOL(natsMsg_Create),
        SYMBOL(natsMsg_Destroy),
        SYMBOL(natsMsg_GetSubject),
        SYMBOL(natsMsg_GetReply),
        SYMBOL(natsMsg_GetData),
        SYMBOL(natsMsg_GetDataLength),
        SYMBOL(natsMsgHeader_Set),
        SYMBOL(natsMsgHeader_Get),
        SYMBOL(natsMsgHeader_Keys),
    };
    const struct beacon_library library = {
        .names = names,
        .reported_name = names[0],
        .title = "libnats",
        .remark = "; it is older than 3.4",
        .symbols = symbols,
        .symbol_count = sizeof symbols / sizeof symbols[0],
    };
    if (!beacon_open_library(&library, trouble, sizeof trouble)) return;
    // The threads that the library starts here inherit this signal mask. Other threads handle the process's signals.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    // nats_Open makes the whole process ignore SIGPIPE. This is necessary because TLS writes with write(2).
    natsStatus status = nats_Open(-1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status != NATS_OK) {
        snprintf(trouble, sizeof trouble, "cannot start libnats: %s", functions.natsStatus_GetText(status));
    }
}

const struct beacon_nats_functions *beacon_nats_load(const char **problem) {
    pthread_once(&once, load);
    if (trouble[0]) {
        *problem = trouble;
        return NULL;
    }
    return &functions;
}
