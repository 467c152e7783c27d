#define _GNU_SOURCE
#include "beacon_group.h"

#include <sys/epoll.h>

int beacon_group_make(void) { return epoll_create1(EPOLL_CLOEXEC); }

void beacon_group_add(int group, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
    epoll_ctl(group, EPOLL_CTL_ADD, descriptor, &event);
}

void beacon_group_remove(int group, int descriptor) { epoll_ctl(group, EPOLL_CTL_DEL, descriptor, 0); }

int beacon_group_ready(int group, int *descriptors, unsigned room) {
    struct epoll_event events[16];
    if (room > sizeof events / sizeof *events) room = sizeof events / sizeof *events;
    int count = epoll_wait(group, events, (int)room, 0);
    for (int i = 0; i < count; i++) descriptors[i] = events[i].data.fd;
    return count;
}
