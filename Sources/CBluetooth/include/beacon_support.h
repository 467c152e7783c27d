#pragma once

// 0 where this process can open Bluetooth sockets, else the error number that says why not.
int beacon_bluetooth_support(void);
