#pragma once

#include <stddef.h>
#include <stdint.h>

// A small process that briefly outlives this one: if this process dies for any reason, the guardian ends its adverts
// and scan.

// The largest message to a guardian, in bytes.
#define BEACON_GUARDIAN_ROOM 2048

// Starts a guardian for an adapter. It keeps no descriptor of this process open, has a separate session, and only
// SIGKILL can end it, so that a signal to the whole process group does not end it too. It is not a child of this
// process, so this process need not wait for it.
//
// It removes `file` once all commands were sent; NULL for none. It sends the commands on `socket`; -1 to open the
// adapter when necessary.
// Returns the descriptor for messages to the guardian, or -1 with errno set.
int beacon_guardian_start(uint16_t adapter, const char *file, int socket);

// Replaces the commands that the guardian will send: consecutive HCI commands, each after its type byte. Returns 0, or
// -1 with errno set.
int beacon_guardian_protect(int guardian, const uint8_t *commands, size_t count);

// Lets the guardian end without sending any command, and closes its descriptor.
void beacon_guardian_dismiss(int guardian);
