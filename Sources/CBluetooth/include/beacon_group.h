#pragma once

// Creates a descriptor that is ready while any of several others has data to read (epoll(7)). Returns it, or -1 with
// errno set.
int beacon_group_make(void);
void beacon_group_add(int group, int descriptor);
void beacon_group_remove(int group, int descriptor);
// Fills in the ready descriptors, without waiting. Returns their number, or -1 with errno set.
int beacon_group_ready(int group, int *descriptors, unsigned room);
