#define _GNU_SOURCE
#include "beacon_packets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

// hci_sock.h: the level of HCI's control messages, and the type of message with the time.
#define LEVEL_HCI 0
#define MESSAGE_TIME 2

// The kernel's struct __kernel_old_timeval, which equals a struct timeval only if time_t is a long.
struct message_time {
    long seconds, microseconds;
};

// Space for one control message with a time, in either form.
#define CONTROL_ROOM CMSG_SPACE(sizeof(struct timespec))

struct beacon_packets {
    unsigned most;
    struct mmsghdr *headers;
    struct iovec *places;
    uint8_t *bytes;
    // Control messages must have the alignment of a size_t.
    size_t *controls;
};

#define CONTROL_WORDS ((CONTROL_ROOM + sizeof(size_t) - 1) / sizeof(size_t))

struct beacon_packets *beacon_packets_make(unsigned most) {
    struct beacon_packets *packets = calloc(1, sizeof *packets);
    if (!packets) return NULL;
    packets->most = most;
    packets->headers = calloc(most, sizeof *packets->headers);
    packets->places = calloc(most, sizeof *packets->places);
    packets->bytes = calloc(most, BEACON_PACKET_ROOM);
    packets->controls = calloc(most, CONTROL_WORDS * sizeof(size_t));
    if (!packets->headers || !packets->places || !packets->bytes || !packets->controls) {
        beacon_packets_free(packets);
        return NULL;
    }
    for (unsigned i = 0; i < most; i++) {
        packets->places[i].iov_base = packets->bytes + (size_t)i * BEACON_PACKET_ROOM;
        packets->places[i].iov_len = BEACON_PACKET_ROOM;
        packets->headers[i].msg_hdr.msg_iov = &packets->places[i];
        packets->headers[i].msg_hdr.msg_iovlen = 1;
        packets->headers[i].msg_hdr.msg_control = packets->controls + i * CONTROL_WORDS;
        packets->headers[i].msg_hdr.msg_controllen = CONTROL_ROOM;
    }
    return packets;
}

void beacon_packets_free(struct beacon_packets *packets) {
    if (!packets) return;
    free(packets->headers);
    free(packets->places);
    free(packets->bytes);
    free(packets->controls);
    free(packets);
}

int beacon_packets_read(struct beacon_packets *packets, int socket) {
    // Restore the sizes that the last call changed.
    for (unsigned i = 0; i < packets->most && packets->headers[i].msg_hdr.msg_controllen != CONTROL_ROOM; i++)
        packets->headers[i].msg_hdr.msg_controllen = CONTROL_ROOM;
    int count;
    do count = recvmmsg(socket, packets->headers, packets->most, MSG_DONTWAIT, NULL);
    while (count < 0 && errno == EINTR);
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? 0 : count;
}

static int64_t nanoseconds(int64_t seconds, int64_t rest) { return seconds * 1000000000 + rest; }

struct beacon_packet beacon_packets_at(const struct beacon_packets *packets, unsigned index) {
    struct mmsghdr *header = &packets->headers[index];
    struct beacon_packet packet = {
        .bytes = packets->places[index].iov_base, .count = header->msg_len, .time = -1};
    for (struct cmsghdr *message = CMSG_FIRSTHDR(&header->msg_hdr); message;
         message = CMSG_NXTHDR(&header->msg_hdr, message)) {
        if (message->cmsg_level == LEVEL_HCI && message->cmsg_type == MESSAGE_TIME) {
            struct message_time time;
            memcpy(&time, CMSG_DATA(message), sizeof time);
            packet.time = nanoseconds(time.seconds, time.microseconds * 1000);
        } else if (message->cmsg_level == SOL_SOCKET && message->cmsg_type == SCM_TIMESTAMPNS) {
            struct timespec time;
            memcpy(&time, CMSG_DATA(message), sizeof time);
            packet.time = nanoseconds(time.tv_sec, time.tv_nsec);
        }
    }
    return packet;
}
