#define _GNU_SOURCE
#include "beacon_guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "beacon_hci.h"

// The first byte of a message.
enum { DISMISS = 0, PROTECT = 1 };

// How long to wait for the answer to one command. A working controller answers in a few milliseconds; all commands
// together must be done within a second.
#define ANSWER_MILLISECONDS 300

// After fork(2) in a process with threads, only async-signal-safe calls are allowed (signal-safety(7)). All functions
// up to beacon_guardian_start comply: they neither allocate nor lock.

static void close_others(int kept) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, kept + 1, ~0U, 0) == 0 && (kept == 0 || syscall(SYS_close_range, 0, kept - 1, 0) == 0))
        return;
#endif
    struct rlimit limit;
    int most = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? (int)limit.rlim_cur : 65536;
    for (int fd = 0; fd < most; fd++)
        if (fd != kept) close(fd);
}

static int64_t milliseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

// Returns whether an event completes the command with this opcode (Core Specification, Vol 4, Part E, 7.7.14 and
// 7.7.15).
static int answers(const uint8_t *event, ssize_t count, const uint8_t *opcode) {
    if (count >= 6 && event[0] == BEACON_HCI_EVENT && event[1] == 0x0E) return memcmp(event + 4, opcode, 2) == 0;
    if (count >= 7 && event[0] == BEACON_HCI_EVENT && event[1] == 0x0F) return memcmp(event + 5, opcode, 2) == 0;
    return 0;
}

static void send_command(int hci, const uint8_t *command, size_t count) {
    if (write(hci, command, count) < 0) return;
    int64_t end = milliseconds() + ANSWER_MILLISECONDS;
    for (int64_t left; (left = end - milliseconds()) > 0;) {
        struct pollfd wait = {.fd = hci, .events = POLLIN};
        if (poll(&wait, 1, (int)left) <= 0) return;
        uint8_t event[260];
        ssize_t length = read(hci, event, sizeof event);
        if (length < 0 && errno != EAGAIN && errno != EINTR) return;
        if (answers(event, length, command + 1)) return;
    }
}

static void send_commands(uint16_t adapter, int hci, const uint8_t *commands, size_t count) {
    if (hci < 0) {
        hci = beacon_hci_open(adapter);
        // Command complete and command status, the events that report whether a command was carried out.
        struct beacon_hci_filter filter = {.types = 1u << BEACON_HCI_EVENT, .events = {1u << 0x0E | 1u << 0x0F, 0}};
        if (hci >= 0) beacon_hci_set_filter(hci, &filter);
    }
    for (size_t at = 0; hci >= 0 && at + 4 <= count;) {
        size_t length = 4 + (size_t)commands[at + 3];
        if (length > count - at) break;
        send_command(hci, commands + at, length);
        at += length;
    }
}

static void guard(int parent, uint16_t adapter, const char *file, int hci) {
    uint8_t message[BEACON_GUARDIAN_ROOM];
    ssize_t count = 0;
    for (;;) {
        uint8_t next[BEACON_GUARDIAN_ROOM];
        ssize_t length = recv(parent, next, sizeof next, 0);
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) break;
        if (next[0] == DISMISS) return;
        memcpy(message, next, (size_t)length);
        count = length;
    }
    if (count > 1) send_commands(adapter, hci, message + 1, (size_t)count - 1);
    if (file) unlink(file);
}

static void become_guardian(int parent, uint16_t adapter, const char *file, int hci) {
    prctl(PR_SET_NAME, "beacon-guardian");
    // Tests pass a socket, which stays open when the other descriptors are closed.
    int kept = hci < 0 ? parent : parent > hci ? parent : hci;
    if (hci >= 0) {
        int other = kept == parent ? hci : parent;
        syscall(SYS_close_range, kept + 1, ~0U, 0);
        for (int fd = 0; fd < kept; fd++)
            if (fd != other) close(fd);
    } else {
        close_others(kept);
    }
    // Descriptors 0 to 2 must be open, since any code may write to them.
    for (int fd = 0; fd >= 0 && fd < 2;) fd = open("/dev/null", O_RDWR);
    if (chdir("/") == 0) guard(parent, adapter, file, hci);
    _exit(0);
}

int beacon_guardian_start(uint16_t adapter, const char *file, int socket) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return -1;
    // No handler of this process may run in the guardian, so signals are blocked before it exists.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t middle = fork();
    if (middle == 0) {
        setsid();
        // The process in between ends at once, so that its child becomes a child of the system's first process.
        pid_t guardian = fork();
        if (guardian == 0) become_guardian(ends[1], adapter, file, socket);
        _exit(guardian < 0 ? 1 : 0);
    }
    int cause = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    int status = 0;
    while (middle > 0 && waitpid(middle, &status, 0) < 0 && errno == EINTR) continue;
    if (middle < 0 || (WIFEXITED(status) && WEXITSTATUS(status) != 0)) {
        close(ends[0]);
        errno = middle < 0 ? cause : EAGAIN;
        return -1;
    }
    return ends[0];
}

int beacon_guardian_protect(int guardian, const uint8_t *commands, size_t count) {
    uint8_t message[BEACON_GUARDIAN_ROOM] = {PROTECT};
    if (count > sizeof message - 1) {
        errno = EMSGSIZE;
        return -1;
    }
    memcpy(message + 1, commands, count);
    return send(guardian, message, count + 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -1 : 0;
}

void beacon_guardian_dismiss(int guardian) {
    uint8_t message = DISMISS;
    send(guardian, &message, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(guardian);
}
