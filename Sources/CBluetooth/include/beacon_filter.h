#pragma once

#include <linux/filter.h>

// Lets a program of the kernel's classic packet filter decide which packets a socket receives, in place of any before
// (socket(7), SO_ATTACH_FILTER). 0, or -1 with errno set: EINVAL where the program is wrong or too long, ENOMEM where it
// needs more than net.core.optmem_max.
int beacon_filter_attach(int socket, const struct sock_filter *program, unsigned short count);

// Lets the socket receive everything again. That it did already is success.
int beacon_filter_detach(int socket);
