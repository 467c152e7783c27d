#include "beacon_support.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

// HCI, from the kernel's include/net/bluetooth/bluetooth.h.
#define BTPROTO_HCI 1

int beacon_bluetooth_support(void) {
    int descriptor = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC, BTPROTO_HCI);
    if (descriptor < 0) return errno;
    close(descriptor);
    return 0;
}
