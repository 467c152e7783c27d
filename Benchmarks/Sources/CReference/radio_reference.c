#define _GNU_SOURCE
#include "CRadioReference.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BATCH 64
#define ROOM 264

static int64_t now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t radio_reference_time(void) { return now(CLOCK_THREAD_CPUTIME_ID); }

int radio_reference_pair(int ends[2]) {
    int yes = 1;
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) < 0) return -1;
    return setsockopt(ends[0], SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes);
}

struct adapter {
    int end;
    size_t count;
    int64_t period;
};

static struct adapter adapter;
// The times at which adverts were about to be sent, if they have a period.
#define SENT 8192
static int64_t sent[SENT];
static pthread_t thread;

// Answers a command with success: no supported commands, no features, and therefore a scan of Bluetooth 4.
static void answer(int end, const uint8_t *command) {
    uint8_t event[7 + 64] = {0x04, 0x0E, 4, 1, command[1], command[2], 0};
    size_t more = command[1] == 0x02 && command[2] == 0x10 ? 64 : command[1] == 0x03 && command[2] == 0x20 ? 8 : 0;
    event[2] += more;
    while (write(end, event, 7 + more) < 0 && (errno == EINTR || errno == ENOBUFS)) continue;
}

static void *serve(void *unused) {
    (void)unused;
    uint8_t command[300];
    for (int is_scanning = 0; !is_scanning;) {
        if (read(adapter.end, command, sizeof command) < 4) return NULL;
        is_scanning = command[1] == 0x0C && command[2] == 0x20 && command[4] == 1;
        answer(adapter.end, command);
    }
    // An iBeacon advert. Its last address byte and its major and minor values are counters.
    uint8_t advert[45] = {0x04, 0x3E, 42, 0x02, 1, 3, 1, 0, 0, 0, 0, 0, 0xC0, 30, 2, 1, 6, 0x1A, 0xFF, 0x4C, 0, 2, 0x15};
    int64_t next = now(CLOCK_MONOTONIC);
    for (size_t i = 0; i < adapter.count; i++) {
        advert[7] = (uint8_t)i;
        for (int place = 0; place < 4; place++) advert[39 + place] = (uint8_t)(i >> (24 - 8 * place));
        if (adapter.period > 0) {
            next += adapter.period;
            struct timespec time = {.tv_sec = next / 1000000000, .tv_nsec = next % 1000000000};
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
        }
        if (adapter.period > 0) sent[i % SENT] = now(CLOCK_REALTIME);
        while (write(adapter.end, advert, sizeof advert) < 0 && (errno == EINTR || errno == ENOBUFS)) continue;
    }
    return NULL;
}

int64_t radio_reference_sent(size_t number) { return sent[number % SENT]; }

int radio_reference_start(int end, size_t count, int64_t period) {
    adapter = (struct adapter){.end = end, .count = count, .period = period};
    return pthread_create(&thread, NULL, serve, NULL);
}

void radio_reference_join(void) { pthread_join(thread, NULL); }

uint64_t radio_reference_read(int socket, size_t count, int64_t *delays) {
    static uint8_t bytes[BATCH][ROOM];
    static size_t controls[BATCH][CMSG_SPACE(sizeof(struct timespec)) / sizeof(size_t)];
    struct mmsghdr headers[BATCH];
    struct iovec places[BATCH];
    const uint8_t enable[6] = {0x01, 0x0C, 0x20, 2, 1, 0};
    uint64_t total = 0;
    if (write(socket, enable, sizeof enable) < 0) return 0;
    for (size_t read = 0; read < count;) {
        struct pollfd wait = {.fd = socket, .events = POLLIN};
        poll(&wait, 1, -1);
        for (int i = 0; i < BATCH; i++) {
            places[i] = (struct iovec){.iov_base = bytes[i], .iov_len = ROOM};
            headers[i].msg_hdr = (struct msghdr){
                .msg_iov = &places[i], .msg_iovlen = 1, .msg_control = controls[i], .msg_controllen = sizeof controls[i]};
        }
        int packets = recvmmsg(socket, headers, BATCH, MSG_DONTWAIT, NULL);
        int64_t time = delays ? now(CLOCK_REALTIME) : 0;
        for (int i = 0; i < packets; i++) {
            if (bytes[i][1] != 0x3E) continue;
            struct cmsghdr *message = CMSG_FIRSTHDR(&headers[i].msg_hdr);
            struct timespec stamp = {0};
            if (message) memcpy(&stamp, CMSG_DATA(message), sizeof stamp);
            total += bytes[i][13] + (stamp.tv_nsec & 1);
            if (delays) delays[read] = time - ((int64_t)stamp.tv_sec * 1000000000 + stamp.tv_nsec);
            read++;
        }
    }
    return total;
}
