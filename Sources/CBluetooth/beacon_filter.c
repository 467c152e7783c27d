#define _GNU_SOURCE
#include "beacon_filter.h"

#include <errno.h>
#include <sys/socket.h>

int beacon_filter_attach(int socket, const struct sock_filter *program, unsigned short count) {
    struct sock_fprog whole = {.len = count, .filter = (struct sock_filter *)program};
    return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &whole, sizeof whole);
}

int beacon_filter_detach(int socket) {
    int unused = 0;
    int result = setsockopt(socket, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof unused);
    return result < 0 && errno == ENOENT ? 0 : result;
}
