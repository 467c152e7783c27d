#define _GNU_SOURCE
#include "CProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static long earlier_limit = -1;

long beacon_earlier_file_limit(void) { return earlier_limit; }

void beacon_raise_file_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    rlim_t before = limit.rlim_cur;
    // Enough for any use of this process. Some systems allow a billion, and some programs visit each number.
    limit.rlim_cur = limit.rlim_max < 65536 ? limit.rlim_max : 65536;
    if (limit.rlim_cur > before && setrlimit(RLIMIT_NOFILE, &limit) == 0) earlier_limit = (long)before;
}

// A file in memory instead of a pipe: a pipe needs a writer while the program runs, even if the program does not read.
static int memory_file(const char *rest, size_t count) {
    int file = memfd_create("beacon event", MFD_CLOEXEC);
    if (file < 0) return -1;
    while (count > 0) {
        ssize_t written = write(file, rest, count);
        if (written < 0 && errno != EINTR) break;
        if (written < 0) continue;
        rest += written;
        count -= (size_t)written;
    }
    if (count == 0 && lseek(file, 0, SEEK_SET) == 0) return file;
    int error = errno;
    close(file);
    errno = error;
    return -1;
}

// Opens a pipe whose first end, for this process, never blocks.
static int open_pipe(int files[2]) {
    return pipe2(files, O_CLOEXEC) == 0 ? fcntl(files[0], F_SETFL, O_NONBLOCK) : -1;
}

static int spawn(
    pid_t *process, char *const words[], char *const environment[], const char *folder, const int files[4]) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return error;
    error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    for (int file = 0; error == 0 && file < 4; file += 1)
        error = posix_spawn_file_actions_adddup2(&actions, files[file], file);
    if (error == 0 && folder) error = posix_spawn_file_actions_addchdir_np(&actions, folder);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    sigfillset(&signals);
    sigdelset(&signals, SIGKILL);
    sigdelset(&signals, SIGSTOP);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (error == 0) error = posix_spawn(process, "/proc/self/exe", &actions, &attributes, words, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

// The thread that reads from a supervisor.
struct reader {
    // A pipe that closes when the process ends, and one with its output, or -1.
    int ending, output;
    // True once the process has started.
    int has_started;
    struct beacon_receiver receiver;
};

// Reads a piece of output. Returns 0 at its end.
static int read_piece(const struct reader *reader) {
    char piece[65536];
    ssize_t count = read(reader->output, piece, sizeof piece);
    if (count > 0) reader->receiver.receive(reader->receiver.context, piece, (size_t)count);
    return count > 0 || (count < 0 && errno == EINTR) ? 1 : count < 0 ? -1 : 0;
}

static void *read_all(void *argument) {
    struct reader *reader = argument;
    struct pollfd files[2] = {{.fd = reader->ending, .events = POLLIN}, {.fd = reader->output, .events = POLLIN}};
    do {
        if (poll(files, 2, -1) < 0) continue;
        if (files[1].revents != 0 && read_piece(reader) == 0) files[1].fd = -1;
    } while (files[0].revents == 0);
    // At most what a pipe holds: processes that outlive the program may write for ever.
    for (int piece = 0; piece < 16 && files[1].fd >= 0 && read_piece(reader) > 0; piece += 1) {}
    close(reader->ending);
    if (reader->output >= 0) close(reader->output);
    if (__atomic_load_n(&reader->has_started, __ATOMIC_ACQUIRE)) reader->receiver.end(reader->receiver.context);
    free(reader);
    return NULL;
}

static int start_thread(struct reader *reader) {
    pthread_attr_t attributes;
    pthread_t thread;
    int error = pthread_attr_init(&attributes);
    if (error != 0) return error;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    // Signals of this process are for other threads.
    sigset_t all, mask;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    error = pthread_create(&thread, &attributes, read_all, reader);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

int beacon_start_supervisor(
    pid_t *process, char *const words[], char *const environment[], const char *folder, const void *input, size_t count,
    int has_output, struct beacon_receiver receiver) {
    int ending[2] = {-1, -1}, output[2] = {-1, STDERR_FILENO};
    int file = memory_file(input, count);
    int error = file < 0 || open_pipe(ending) != 0 || (has_output && open_pipe(output) != 0) ? errno : 0;
    // The kernel gives out the lowest free number (open(2)), so a high number means that few are left.
    long limit = sysconf(_SC_OPEN_MAX), reserve = limit / 16 < 64 ? limit / 16 : 64;
    int highest = output[1] > ending[1] ? output[1] : ending[1];
    if (error == 0 && limit > 0 && highest >= limit - reserve) error = EMFILE;
    struct reader *reader = error == 0 ? malloc(sizeof *reader) : NULL;
    if (error == 0 && !reader) error = ENOMEM;
    if (error == 0) {
        *reader = (struct reader){.ending = ending[0], .output = output[0], .receiver = receiver};
        error = start_thread(reader);
        if (error == 0) {
            int files[4] = {file, output[1], output[1], ending[1]};
            error = spawn(process, words, environment, folder, files);
            if (error == 0) __atomic_store_n(&reader->has_started, 1, __ATOMIC_RELEASE);
            // The thread closes these, and ends at the latest once the other end of the first is closed below.
            ending[0] = output[0] = -1;
        } else
            free(reader);
    }
    if (file >= 0) close(file);
    for (int end = 0; end < 2; end += 1) {
        if (output[end] >= 0 && has_output) close(output[end]);
        if (ending[end] >= 0) close(ending[end]);
    }
    return error;
}

int beacon_take_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, sets) != 0) return -1;
    int taken = 0;
    for (int word = 0; word < _LINUX_CAPABILITY_U32S_3; word += 1) {
        taken |= sets[word].effective != sets[word].permitted;
        sets[word].effective = sets[word].permitted;
    }
    // A service's system call filter refuses the call even if it changes nothing.
    return taken ? (int)syscall(SYS_capset, &header, sets) : 0;
}

int beacon_withhold_capabilities(void) {
    // A kernel before 4.3 has no ambient set, so there is nothing to clear.
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL) return -1;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, sets) != 0) return -1;
    for (int word = 0; word < _LINUX_CAPABILITY_U32S_3; word += 1) sets[word].inheritable = 0;
    if (syscall(SYS_capset, &header, sets) == 0) return 0;
    // A service's system call filter refuses the call (EPERM). Without the ambient set, inheritable capabilities give a
    // program nothing unless its own file requests them (capabilities(7)).
    return errno == EPERM ? 0 : -1;
}
