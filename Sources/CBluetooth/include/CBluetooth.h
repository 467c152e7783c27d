#pragma once

// Features of the Linux kernel that Swift's view of the C library lacks: calls that are variadic or not part of POSIX,
// and the structures of Bluetooth sockets, which no header of the C library contains.

#include "beacon_adapters.h"
#include "beacon_filter.h"
#include "beacon_guardian.h"
#include "beacon_hci.h"
#include "beacon_packets.h"
#include "beacon_group.h"
#include "beacon_support.h"
#include "beacon_management.h"
