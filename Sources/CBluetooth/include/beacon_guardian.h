#pragma once

#include <stddef.h>
#include <stdint.h>

// A small process that outlives this one by a moment: where this one dies, by whatever death, it takes back what this one
// left on the air.

// The most bytes that a guardian can be told at once.
#define BEACON_GUARDIAN_ROOM 2048

// Starts a guardian for an adapter. It keeps nothing of this process open, belongs to a session of its own and lets no
// signal but SIGKILL end it, so that what ends a whole process group does not end it too. It is nobody's child, so nobody
// has to wait for it.
//
// `file` is removed once all was taken back; NULL for none. `socket` is what to send the commands to, or -1 to open the
// adapter when it is needed.
// Gives the descriptor to tell the guardian by, or -1 with errno set.
int beacon_guardian_start(uint16_t adapter, const char *file, int socket);

// Says what to take back from now on, in place of what was said before: HCI commands, one behind the other, each behind
// its type byte. 0, or -1 with errno set.
int beacon_guardian_tell(int guardian, const uint8_t *commands, size_t count);

// Lets the guardian end without taking anything back, and closes its descriptor.
void beacon_guardian_dismiss(int guardian);
