#pragma once

#include <stdint.h>

// Packets read from a socket many at a time (recvmmsg(2)).
struct beacon_packets;

// One packet, valid until the next read.
struct beacon_packet {
    const uint8_t *bytes;
    uint32_t count;
    // The time at which the kernel received it, in nanoseconds of the wall clock, or -1 if unknown.
    int64_t time;
};

// Creates space for `most` packets of at most BEACON_PACKET_ROOM bytes, or returns NULL. An HCI event has 3 + 255 bytes
// with its type, a command 4 + 255 (Core Specification, Vol 4, Part E, 5.4).
#define BEACON_PACKET_ROOM 264
struct beacon_packets *beacon_packets_make(unsigned most);
void beacon_packets_free(struct beacon_packets *packets);

// Reads the available packets, without waiting. Returns their number, which may be 0, or -1 with errno set.
int beacon_packets_read(struct beacon_packets *packets, int socket);

// Returns the packet at `index` of the last read.
struct beacon_packet beacon_packets_at(const struct beacon_packets *packets, unsigned index);
