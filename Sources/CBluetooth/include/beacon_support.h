#pragma once

// Returns 0 if this process can open Bluetooth sockets, otherwise the error number.
int beacon_bluetooth_support(void);
