#include "beacon_management.h"

#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

// From the kernel's include/net/bluetooth/bluetooth.h and hci_sock.h.
#define BTPROTO_HCI 1
#define HCI_DEV_NONE 0xFFFF
#define HCI_CHANNEL_CONTROL 3

struct sockaddr_hci {
    sa_family_t family;
    uint16_t adapter;
    uint16_t channel;
};

int beacon_management_open(void) {
    int descriptor = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC, BTPROTO_HCI);
    if (descriptor < 0) return -1;
    struct sockaddr_hci address = {.family = AF_BLUETOOTH, .adapter = HCI_DEV_NONE, .channel = HCI_CHANNEL_CONTROL};
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    int number = errno;
    close(descriptor);
    errno = number;
    return -1;
}
