#define _GNU_SOURCE
#include "beacon_adapters.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

// bluetooth.h
#define PROTOCOL_HCI 1
// hci_sock.h
#define REQUEST_UP _IOW('H', 201, int)
#define REQUEST_DOWN _IOW('H', 202, int)
#define REQUEST_LIST _IOR('H', 210, int)
#define REQUEST_READ _IOR('H', 211, int)
// hci.h: HCI_UP is the first of the flags.
#define FLAG_UP 1u
// More adapters than a machine has; further ones are ignored.
#define MOST 64

// hci_sock.h: struct hci_dev_list_req
struct list_request {
    uint16_t count;
    struct {
        uint16_t index;
        uint32_t flags;
    } adapters[MOST];
};

// hci_sock.h: struct hci_dev_info with its struct hci_dev_stats
struct read_request {
    uint16_t index;
    char name[8];
    uint8_t address[6];
    uint32_t flags;
    uint8_t type;
    uint8_t features[8];
    uint32_t packet_types;
    uint32_t link_policy;
    uint32_t link_mode;
    uint16_t acl_size, acl_count;
    uint16_t sco_size, sco_count;
    struct {
        uint32_t receive_errors, send_errors, commands_sent, events_received, acl_sent, acl_received, sco_sent,
            sco_received, bytes_received, bytes_sent;
    } statistics;
};

// Requests that do not concern a socket's own adapter use an unbound socket.
static int request(unsigned long kind, unsigned long argument) {
    int fd = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC, PROTOCOL_HCI);
    if (fd < 0) return -1;
    int result = ioctl(fd, kind, argument);
    int cause = errno;
    close(fd);
    errno = cause;
    return result;
}

int beacon_adapters_list(uint16_t *indices, unsigned room) {
    struct list_request list;
    memset(&list, 0, sizeof list);
    list.count = MOST;
    if (request(REQUEST_LIST, (unsigned long)&list) < 0) return -1;
    unsigned count = 0;
    for (unsigned i = 0; i < list.count && i < MOST && count < room; i++) indices[count++] = list.adapters[i].index;
    return (int)count;
}

int beacon_adapters_read(uint16_t index, struct beacon_adapter *adapter) {
    struct read_request info;
    memset(&info, 0, sizeof info);
    info.index = index;
    if (request(REQUEST_READ, (unsigned long)&info) < 0) return -1;
    adapter->index = index;
    memcpy(adapter->address, info.address, sizeof adapter->address);
    adapter->is_up = (info.flags & FLAG_UP) != 0;
    // hci.h: the low four bits.
    adapter->bus = info.type & 0x0F;
    adapter->events = info.statistics.events_received;
    return 0;
}

int beacon_adapters_switch(uint16_t index, int on) {
    int result = request(on ? REQUEST_UP : REQUEST_DOWN, index);
    return result < 0 && errno == EALREADY ? 0 : result;
}
