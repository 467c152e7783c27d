#pragma once

// A descriptor that is ready while any of several others has something to read (epoll(7)), or -1 with errno set.
int beacon_group_make(void);
void beacon_group_add(int group, int descriptor);
void beacon_group_remove(int group, int descriptor);
// Fills in which of them are ready, without waiting. Gives how many, or -1 with errno set.
int beacon_group_ready(int group, int *descriptors, unsigned room);
