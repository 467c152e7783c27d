#define _GNU_SOURCE
#include "beacon_hci.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// bluetooth.h
#define PROTOCOL_HCI 1
// hci_sock.h
#define CHANNEL_RAW 0
#define LEVEL_HCI 0
#define OPTION_FILTER 2
#define OPTION_TIME_STAMP 3

struct hci_address {
    sa_family_t family;
    unsigned short adapter;
    unsigned short channel;
};

int beacon_hci_open(uint16_t adapter) {
    int fd = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, PROTOCOL_HCI);
    if (fd < 0) return -1;
    struct hci_address address = {.family = AF_BLUETOOTH, .adapter = adapter, .channel = CHANNEL_RAW};
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        int cause = errno;
        close(fd);
        errno = cause;
        return -1;
    }
    return fd;
}

int beacon_hci_set_filter(int socket, const struct beacon_hci_filter *filter) {
    return setsockopt(socket, LEVEL_HCI, OPTION_FILTER, filter, sizeof *filter);
}

int beacon_hci_get_filter(int socket, struct beacon_hci_filter *filter) {
    socklen_t length = sizeof *filter;
    memset(filter, 0, sizeof *filter);
    return getsockopt(socket, LEVEL_HCI, OPTION_FILTER, filter, &length);
}

int beacon_hci_stamp(int socket) {
    int yes = 1;
    return setsockopt(socket, LEVEL_HCI, OPTION_TIME_STAMP, &yes, sizeof yes);
}

void beacon_socket_reserve(int socket, int bytes) {
    if (setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

int64_t beacon_socket_dropped(int socket) {
    uint32_t values[SK_MEMINFO_VARS] = {0};
    socklen_t length = sizeof values;
    if (getsockopt(socket, SOL_SOCKET, SO_MEMINFO, values, &length) < 0) return -1;
    return length > SK_MEMINFO_DROPS * sizeof *values ? (int64_t)values[SK_MEMINFO_DROPS] : -1;
}
