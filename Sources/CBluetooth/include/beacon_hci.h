#pragma once

#include <stdint.h>

// Raw HCI sockets. Numbers and layouts are the kernel's, from include/net/bluetooth/bluetooth.h and hci_sock.h, which it
// does not install for programs.

// Binds to no adapter: for news of all of them (HCI_DEV_NONE).
#define BEACON_HCI_NO_ADAPTER 0xFFFF

// The first byte of each packet (hci.h: HCI_COMMAND_PKT, HCI_EVENT_PKT).
#define BEACON_HCI_COMMAND 0x01
#define BEACON_HCI_EVENT 0x04

// The kernel's own event, of adapters that come and go (hci.h: HCI_EV_STACK_INTERNAL), and its kind and contents
// (HCI_EV_SI_DEVICE, hci_sock.h: HCI_DEV_REG and what follows).
#define BEACON_HCI_STACK_INTERNAL 0xFD
#define BEACON_HCI_STACK_ADAPTER 0x0001
#define BEACON_HCI_ADAPTER_ADDED 1
#define BEACON_HCI_ADAPTER_REMOVED 2
#define BEACON_HCI_ADAPTER_UP 3
#define BEACON_HCI_ADAPTER_DOWN 4

// What a raw socket receives (hci_sock.h: struct hci_ufilter). Bits of packet types, bits of event codes of which the
// kernel looks at the low six bits, and one opcode or 0 for all. The kernel takes the 16 bytes that this has with its
// padding.
struct beacon_hci_filter {
    uint32_t types;
    uint32_t events[2];
    uint16_t opcode;
};

// Opens a raw socket that does not block (AF_BLUETOOTH, SOCK_RAW, BTPROTO_HCI) and binds it to an adapter
// (HCI_CHANNEL_RAW). Gives the descriptor, or -1 with errno set. Opening needs no privilege; see the filter.
int beacon_hci_open(uint16_t adapter);

// Sets and reads what the socket receives (HCI_FILTER). Where the process lacks CAP_NET_RAW, the kernel takes away what
// that would allow, adverts among it, and does not fail. 0, or -1 with errno set.
int beacon_hci_set_filter(int socket, const struct beacon_hci_filter *filter);
int beacon_hci_get_filter(int socket, struct beacon_hci_filter *filter);

// Lets the kernel tell when it received each packet (HCI_TIME_STAMP). 0, or -1 with errno set.
int beacon_hci_stamp(int socket);

// Gives the socket room for so many bytes that wait to be read, more than the system's limit where the process may
// (SO_RCVBUFFORCE, else SO_RCVBUF).
void beacon_socket_reserve(int socket, int bytes);

// How many packets the kernel threw away since there was no room for them (SO_MEMINFO, SK_MEMINFO_DROPS), or -1 where it
// does not tell.
int64_t beacon_socket_dropped(int socket);
