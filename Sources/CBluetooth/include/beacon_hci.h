#pragma once

#include <stdint.h>

// Raw HCI sockets. Numbers and layouts are the kernel's, from include/net/bluetooth/bluetooth.h and hci_sock.h, which
// it does not install for programs.

// The index for no adapter, which receives events of all of them (HCI_DEV_NONE).
#define BEACON_HCI_NO_ADAPTER 0xFFFF

// The first byte of each packet (hci.h: HCI_COMMAND_PKT, HCI_EVENT_PKT).
#define BEACON_HCI_COMMAND 0x01
#define BEACON_HCI_EVENT 0x04

// The kernel's own event for added and removed adapters (hci.h: HCI_EV_STACK_INTERNAL), and its kind and contents
// (HCI_EV_SI_DEVICE, hci_sock.h: HCI_DEV_REG and the numbers after it).
#define BEACON_HCI_STACK_INTERNAL 0xFD
#define BEACON_HCI_STACK_ADAPTER 0x0001
#define BEACON_HCI_ADAPTER_ADDED 1
#define BEACON_HCI_ADAPTER_REMOVED 2
#define BEACON_HCI_ADAPTER_UP 3
#define BEACON_HCI_ADAPTER_DOWN 4

// The filter of a raw socket (hci_sock.h: struct hci_ufilter): bits of packet types, bits of event codes (the kernel
// compares their low six bits), and one opcode or 0 for all. The kernel reads 16 bytes, the size of this structure
// with padding.
struct beacon_hci_filter {
    uint32_t types;
    uint32_t events[2];
    uint16_t opcode;
};

// Opens a non-blocking raw socket (AF_BLUETOOTH, SOCK_RAW, BTPROTO_HCI) and binds it to an adapter (HCI_CHANNEL_RAW).
// Returns the descriptor, or -1 with errno set. Opening needs no privilege; see the filter.
int beacon_hci_open(uint16_t adapter);

// Sets and reads the socket's filter (HCI_FILTER). If the process lacks CAP_NET_RAW, the kernel silently removes
// everything that needs it, including adverts. Returns 0, or -1 with errno set.
int beacon_hci_set_filter(int socket, const struct beacon_hci_filter *filter);
int beacon_hci_get_filter(int socket, struct beacon_hci_filter *filter);

// Makes the kernel report when it received each packet (HCI_TIME_STAMP). Returns 0, or -1 with errno set.
int beacon_hci_stamp(int socket);

// Sets the size of the socket's receive buffer in bytes, above the system's limit if the process may (SO_RCVBUFFORCE,
// otherwise SO_RCVBUF).
void beacon_socket_reserve(int socket, int bytes);

// Returns the number of packets that the kernel dropped for lack of space (SO_MEMINFO, SK_MEMINFO_DROPS), or -1 if it
// does not report it.
int64_t beacon_socket_dropped(int socket);
