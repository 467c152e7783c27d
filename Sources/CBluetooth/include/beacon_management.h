#pragma once

// Opens a socket to Bluetooth's management (AF_BLUETOOTH, BTPROTO_HCI, HCI_CHANNEL_CONTROL of the kernel's
// include/net/bluetooth/hci_sock.h). Returns the descriptor, or -1 with errno set. It needs no privilege: without one
// the kernel only answers queries.
int beacon_management_open(void);
