#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "CProcess.h"

// A program that runs for an event has two processes above it, which are this same executable:
//
//     beacond -- relay -- guard -- the program, and everything that it starts
//
// The guard adopts each process whose parent has ended (PR_SET_CHILD_SUBREAPER in prctl(2)). A process cannot leave the
// tree by a separate session, and beacond's other children are not in it. At the time limit the guard ends the whole
// tree.
//
// The relay ends when the program does, with the same status. The guard then stays for the processes that outlive it.
// If the guard is killed while the relay exists, the relay adopts the guard's tree and ends it.
//
// Only the relay keeps the descriptor END open. beacond reads the end of the relay from it.
enum { END = 3 };

// The arguments after the name, see CProcess.h.
struct order {
    int64_t limit, grace;
    int has_own_session;
    long long files;
    char **words;
};

struct process {
    pid_t id, parent;
    unsigned long long start;
    int is_ours;
};

static int64_t milliseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

// Ends this process with another one's wait status.
static _Noreturn void end_as(int status) {
    if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    int number = WTERMSIG(status);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    signal(number, SIG_DFL);
    kill(getpid(), number);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    _exit(128 + number);
}

// Waits a tenth of a second for the system to have room for a process. SIGTERM ends the wait and this process.
static void wait_for_room(const sigset_t *all) {
    struct timespec pause = {.tv_nsec = 100000000};
    if (sigtimedwait(all, NULL, &pause) == SIGTERM) end_as(SIGTERM);
}

// Forks, as soon as there is room for another process.
static pid_t fork_patiently(const sigset_t *all) {
    pid_t id;
    while ((id = fork()) < 0 && (errno == EAGAIN || errno == ENOMEM)) wait_for_room(all);
    return id;
}

static _Noreturn void fail(const char *what) {
    dprintf(STDERR_FILENO, "cannot start %s: %s\n", what, strerror(errno));
    _exit(126);
}

// The outputs belong to the program: their reader waits until every process that has them has closed them.
static void leave_standard_files(void) {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int file = 0; null >= 0 && file <= 2; file += 1)
        if (null != file) dup2(null, file);
    if (null > 2) close(null);
}

// Reads a process from /proc/ID/stat (proc(5)): "ID (NAME) STATE PARENT ...", with its start time as the 22nd field.
// The name may contain any characters. Returns 0 if there is no such process.
static int read_process(pid_t id, struct process *process) {
    char text[1024];
    snprintf(text, sizeof text, "/proc/%d/stat", id);
    int file = open(text, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    if (count <= 0) return 0;
    text[count] = 0;
    const char *rest = strrchr(text, ')');
    *process = (struct process){.id = id};
    return rest
        && sscanf(rest + 1, " %*c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
               &process->parent, &process->start) == 2;
}

// Sends a signal to a process that was read before, but to no other process that has reused its number.
static void send_signal(const struct process *process, int number) {
#if defined(SYS_pidfd_open) && defined(SYS_pidfd_send_signal)
    int file = (int)syscall(SYS_pidfd_open, process->id, 0);
    if (file >= 0) {
        struct process now;
        if (read_process(process->id, &now) && now.start == process->start)
            syscall(SYS_pidfd_send_signal, file, number, NULL, 0);
        close(file);
        return;
    }
    // A kernel before 5.3, or a filter of system calls.
    if (errno != ENOSYS && errno != EPERM) return;
#endif
    kill(process->id, number);
}

static int has_ours(const struct process *all, size_t count, pid_t id) {
    for (size_t at = 0; at < count; at += 1)
        if (all[at].id == id) return all[at].is_ours;
    return 0;
}

// Returns whether /proc has this process's numbers, and not those of a PID namespace above it.
static int has_own_proc(void) {
    char text[16] = "";
    return readlink("/proc/self", text, sizeof text - 1) > 0 && atoi(text) == getpid();
}

// Sends a signal to each process below this one. Without a /proc of its PID namespace it reaches the program's group,
// or no process if `group` is 0.
static void signal_tree(int number, pid_t group) {
    DIR *folder = has_own_proc() ? opendir("/proc") : NULL;
    if (!folder) {
        if (group != 0) kill(group, number);
        return;
    }
    struct process *all = NULL;
    size_t count = 0, room = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (!isdigit((unsigned char)entry->d_name[0])) continue;
        struct process process;
        if (!read_process(atoi(entry->d_name), &process)) continue;
        if (count == room) {
            room = room ? room * 2 : 256;
            struct process *larger = realloc(all, room * sizeof *all);
            if (!larger) break;
            all = larger;
        }
        all[count++] = process;
    }
    closedir(folder);
    pid_t own = getpid();
    for (int has_found = 1; has_found;) {
        has_found = 0;
        for (size_t at = 0; at < count; at += 1) {
            struct process *process = &all[at];
            if (process->is_ours || !(process->parent == own || has_ours(all, count, process->parent))) continue;
            process->is_ours = has_found = 1;
            send_signal(process, number);
        }
    }
    free(all);
}

static _Noreturn void run_program(const struct order *order, const sigset_t *all, const sigset_t *mask) {
    if (order->has_own_session) setsid();
    struct rlimit files;
    if (order->files >= 0 && getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = (rlim_t)order->files;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    // A file that is being written cannot run, for instance while its user copies a new version. After 5 s, it fails.
    for (int busy = 0;;) {
        sigprocmask(SIG_SETMASK, mask, NULL);
        execv(order->words[0], order->words + 1);
        int is_busy = errno == ETXTBSY && ++busy < 50;
        if (!is_busy && errno != EAGAIN && errno != ENOMEM && errno != ENFILE) fail(order->words[0]);
        sigprocmask(SIG_SETMASK, all, NULL);
        wait_for_room(all);
    }
}

// Reports the program's status to the relay.
static void report(pid_t relay, int status) { sigqueue(relay, SIGRTMIN, (union sigval){.sival_int = status}); }

static _Noreturn void guard_program(
    pid_t relay, const struct order *order, const sigset_t *all, const sigset_t *mask) {
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    prctl(PR_SET_NAME, "beacon-guard", 0, 0, 0);
    close(END);
    pid_t program = fork_patiently(all);
    if (program == 0) run_program(order, all, mask);
    if (program < 0) fail(order->words[0]);
    leave_standard_files();
    pid_t group = order->has_own_session ? -program : program;
    enum { RUNNING, ASKED, KILLED } stage = RUNNING;
    // The status of a process that SIGKILL ended (wait(2)), for a program that this user may not end.
    int status = SIGKILL, has_ended = 0, is_asked = 0, is_late = 0;
    int64_t next = order->limit < 0 ? INT64_MAX : milliseconds() + order->limit, end = INT64_MAX;
    for (;;) {
        int one;
        pid_t id;
        while ((id = waitpid(-1, &one, WNOHANG)) > 0) {
            if (id != program) continue;
            has_ended = 1;
            // Its number may soon be reused.
            group = 0;
            // The signal for the time limit must not appear to come from the program.
            status = WIFSIGNALED(one) && WTERMSIG(one) == BEACON_LIMIT_SIGNAL ? (128 + BEACON_LIMIT_SIGNAL) << 8 : one;
            // If the report does not arrive, the relay learns the status when this process ends.
            if (stage == RUNNING) report(relay, status);
        }
        // Without a limit the processes left by the program may continue.
        if (id < 0 || (has_ended && stage == RUNNING && order->limit < 0)) break;
        int64_t now = milliseconds();
        if (now >= end) break;
        if (now >= next || stage == KILLED) {
            if (stage == RUNNING) {
                is_late = !has_ended && !is_asked;
                stage = ASKED;
                next = now + order->grace;
                signal_tree(SIGTERM, group);
            } else {
                // A process may start another before it is killed, so this repeats. A process of another user cannot be
                // killed.
                if (stage == ASKED) end = now + 5000;
                stage = KILLED;
                next = now + 10;
                signal_tree(SIGKILL, group);
            }
        }
        int64_t left = next == INT64_MAX ? 3600000 : next - milliseconds();
        if (left < 0) left = 0;
        struct timespec pause = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000};
        siginfo_t info;
        if (sigtimedwait(all, &info, &pause) == SIGTERM && info.si_pid == relay && stage == RUNNING) {
            is_asked = 1;
            next = 0;
        }
    }
    if (is_late) status = BEACON_LIMIT_SIGNAL;
    report(relay, status);
    end_as(status);
}

static _Noreturn void supervise(const struct order *order) {
    sigset_t all, mask;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &mask);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    pid_t own = getpid(), guard = fork_patiently(&all);
    if (guard == 0) guard_program(own, order, &all, &mask);
    if (guard < 0) fail(order->words[0]);
    prctl(PR_SET_NAME, "beacon-relay", 0, 0, 0);
    leave_standard_files();
    sigset_t reports;
    sigemptyset(&reports);
    sigaddset(&reports, SIGRTMIN);
    int64_t end = INT64_MAX;
    for (int status = 0;;) {
        siginfo_t info;
        struct timespec pause = {.tv_sec = end == INT64_MAX ? 3600 : 0, .tv_nsec = 10000000}, none = {0};
        int number = sigtimedwait(&all, &info, &pause);
        // A report counts before the end of its sender, in whichever order the signals arrive.
        if (number == SIGCHLD && sigtimedwait(&reports, &info, &none) == SIGRTMIN) number = SIGRTMIN;
        if (number == SIGRTMIN && info.si_pid == guard) end_as(info.si_value.sival_int);
        if (number == SIGTERM && end == INT64_MAX) kill(guard, SIGTERM);
        int one;
        pid_t id;
        while ((id = waitpid(-1, &one, WNOHANG)) > 0) {
            if (id != guard) continue;
            if (!WIFSIGNALED(one)) end_as(one);
            // A killed guard leaves its tree behind.
            status = one;
            end = milliseconds() + 5000;
        }
        if (end == INT64_MAX) continue;
        if (id < 0 || milliseconds() >= end) end_as(status);
        signal_tree(SIGKILL, 0);
    }
}

// Closes what a library of beacond left open for its children.
static void close_others(void) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, END + 1, ~0U, 0) == 0) return;
#endif
    for (long file = END + 1, most = sysconf(_SC_OPEN_MAX); file < most; file += 1) close((int)file);
}

// Returns the arguments of this process, which musl does not pass to a constructor.
static char **read_arguments(void) {
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (file < 0) return NULL;
    char *text = NULL;
    size_t length = 0, room = 0;
    for (ssize_t count = 1; count > 0; length += count > 0 ? (size_t)count : 0) {
        if (room - length < 4096 && !(text = realloc(text, room += 65536))) return NULL;
        count = read(file, text + length, room - length - 1);
    }
    close(file);
    text[length] = 0;
    size_t words = 1;
    for (size_t at = 0; at < length; at += 1) words += text[at] == 0;
    char **result = calloc(words + 1, sizeof *result);
    if (!result) return NULL;
    size_t number = 0;
    for (char *word = text; word < text + length; word += strlen(word) + 1) result[number++] = word;
    return result;
}

// Runs before Swift begins: a process forked here is small and has one thread.
__attribute__((constructor)) static void supervise_if_asked(void) {
    if (strcmp(program_invocation_name, BEACON_SUPERVISOR) != 0) return;
    char **words = read_arguments();
    for (int at = 0; at <= 6; at += 1)
        if (!words || !words[at]) _exit(127);
    close_others();
    struct order order = {
        .limit = atoll(words[1]), .grace = atoll(words[2]), .has_own_session = words[3][0] == '1',
        .files = atoll(words[4]), .words = words + 5};
    supervise(&order);
}
