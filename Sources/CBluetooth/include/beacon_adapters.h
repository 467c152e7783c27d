#pragma once

#include <stdint.h>

// Bluetooth adapters as the kernel lists them (include/net/bluetooth/hci_sock.h: struct hci_dev_info).
struct beacon_adapter {
    uint16_t index;
    // In reverse order: the byte that is printed last is first.
    uint8_t address[6];
    // Whether it is switched on (hci.h: HCI_UP).
    uint8_t is_up;
    // How it is attached (hci.h: HCI_USB and others).
    uint8_t bus;
    // The number of events that it has sent (struct hci_dev_stats: evt_rx).
    uint32_t events;
};

// Fills in the indices of at most `room` adapters (HCIGETDEVLIST). Returns their number, or -1 with errno set:
// EAFNOSUPPORT if the kernel has no Bluetooth.
int beacon_adapters_list(uint16_t *indices, unsigned room);

// Reads the state of one adapter (HCIGETDEVINFO). Returns 0, or -1 with errno set: ENODEV if it does not exist.
int beacon_adapters_read(uint16_t index, struct beacon_adapter *adapter);

// Switches an adapter on (HCIDEVUP) or off (HCIDEVDOWN), and waits until it is. Returns 0, also if there was nothing to
// do, or -1 with errno set: EPERM without CAP_NET_ADMIN, ERFKILL if a switch keeps it off.
int beacon_adapters_switch(uint16_t index, int on);
