#pragma once

#include <stdint.h>

// Packets read from a socket many at a time (recvmmsg(2)).
struct beacon_packets;

// One packet, which stays as it is until the next call that reads.
struct beacon_packet {
    const uint8_t *bytes;
    uint32_t count;
    // When the kernel received it, in nanoseconds of the wall clock, or -1 where it did not say.
    int64_t time;
};

// Room for `most` packets of at most BEACON_PACKET_ROOM bytes, or NULL. An HCI event has 3 + 255 bytes with its type, a
// command 4 + 255 (Core Specification, Vol 4, Part E, 5.4).
#define BEACON_PACKET_ROOM 264
struct beacon_packets *beacon_packets_make(unsigned most);
void beacon_packets_free(struct beacon_packets *packets);

// Reads what there is, without waiting. Gives how many packets, 0 where there were none, or -1 with errno set.
int beacon_packets_read(struct beacon_packets *packets, int socket);

// The packet at `index` of those that were read.
struct beacon_packet beacon_packets_at(const struct beacon_packets *packets, unsigned index);
