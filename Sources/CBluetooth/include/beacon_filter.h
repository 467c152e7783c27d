#pragma once

#include <linux/filter.h>

// Sets a program of the kernel's classic packet filter that decides which packets a socket receives, and replaces an
// earlier one (socket(7), SO_ATTACH_FILTER). Returns 0, or -1 with errno set: EINVAL if the program is wrong or too
// long, ENOMEM if it needs more than net.core.optmem_max.
int beacon_filter_attach(int socket, const struct sock_filter *program, unsigned short count);

// Removes the filter, so that the socket receives everything. Succeeds also without a filter.
int beacon_filter_detach(int socket);
