#pragma once

#include <stdint.h>

// Bluetooth adapters as the kernel lists them (include/net/bluetooth/hci_sock.h: struct hci_dev_info).
struct beacon_adapter {
    uint16_t index;
    // The byte that is printed last comes first.
    uint8_t address[6];
    // Whether it is switched on (hci.h: HCI_UP).
    uint8_t is_up;
    // How it is attached (hci.h: HCI_USB and others).
    uint8_t bus;
    // How many events it has sent (struct hci_dev_stats: evt_rx).
    uint32_t events;
};

// Fills in the indices of at most `room` adapters (HCIGETDEVLIST). Gives how many, or -1 with errno set: EAFNOSUPPORT where
// the kernel has no Bluetooth.
int beacon_adapters_list(uint16_t *indices, unsigned room);

// Reads about one adapter (HCIGETDEVINFO). 0, or -1 with errno set: ENODEV where there is none.
int beacon_adapters_read(uint16_t index, struct beacon_adapter *adapter);

// Switches an adapter on (HCIDEVUP) or off (HCIDEVDOWN), and waits until it is. 0, or -1 with errno set: EPERM without
// CAP_NET_ADMIN, ERFKILL where a switch keeps it off. That it was so already is success.
int beacon_adapters_switch(uint16_t index, int on);
