#define _GNU_SOURCE
#include "clock.h"

#include "CProcessClock.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// A thread of the process, and its open files in /proc. Used by one thread at a time.
struct thread {
    long number;
    int state_file, runs_file;
    unsigned long long runs;
};

static struct thread *threads;
static size_t thread_count;
static DIR *directory;

static bool read_file(int file, char *text, size_t size) {
    ssize_t length = pread(file, text, size - 1, 0);
    if (length > 0) text[length] = 0;
    return length > 0;
}

// Returns how often a thread has run; 0 if it has ended.
static unsigned long long count_runs(int file) {
    char text[128];
    unsigned long long runs = 0;
    if (read_file(file, text, sizeof text)) sscanf(text, "%*u %*u %llu", &runs);
    return runs;
}

// False for a thread that waits for a disk: it will run.
static bool sleeps(const struct thread *thread) {
    char text[512];
    if (!read_file(thread->state_file, text, sizeof text)) return false;
    const char *name_end = strrchr(text, ')');
    return name_end && name_end[1] == ' ' && name_end[2] != 'R' && name_end[2] != 'D';
}

static int open_file(long thread, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%ld/%s", thread, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static void close_thread(const struct thread *thread) {
    close(thread->state_file);
    close(thread->runs_file);
}

// Finds all threads. Files stay open, since opening one takes longer than reading it.
static void find_threads(void) {
    struct thread *old = threads;
    size_t old_count = thread_count;
    threads = NULL;
    thread_count = 0;
    rewinddir(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        long number = strtol(entry->d_name, NULL, 10);
        if (number == 0) continue;
        struct thread thread = {number, -1, -1, 0};
        for (size_t index = 0; index < old_count; index++) {
            if (old[index].number != number) continue;
            thread = old[index];
            old[index].number = 0;
        }
        threads = realloc(threads, (thread_count + 1) * sizeof *threads);
        threads[thread_count++] = thread;
    }
    for (size_t index = 0; index < old_count; index++)
        if (old[index].number != 0) close_thread(&old[index]);
    free(old);
}

// Two more links than threads.
static bool has_all_threads(void) {
    struct stat information;
    return fstat(dirfd(directory), &information) == 0 && information.st_nlink == thread_count + 2;
}

bool beacon_counts_runs(void) {
    int file = open_file(syscall(SYS_gettid), "schedstat");
    unsigned long long runs = count_runs(file);
    close(file);
    return runs > 0;
}

// Looks at each thread twice. A thread that sleeps both times, and has not run in between, slept all the time. So all
// slept at the moment when the first look ended. A thread that begins or ends in between has run.
bool beacon_process_is_idle(void) {
    pthread_mutex_lock(&beacon_clock_lock);
    bool wakes = beacon_waits_wake(beacon_moment);
    pthread_mutex_unlock(&beacon_clock_lock);
    if (wakes || (!directory && !(directory = opendir("/proc/self/task")))) return false;
    if (!has_all_threads()) find_threads();
    long own = syscall(SYS_gettid);
    for (size_t index = 0; index < thread_count; index++) {
        struct thread *thread = &threads[index];
        if (thread->number == own) continue;
        thread->runs = count_runs(thread->runs_file);
        if (thread->runs == 0) {
            // A new thread, or another one with the number of an ended one.
            close_thread(thread);
            thread->state_file = open_file(thread->number, "stat");
            thread->runs_file = open_file(thread->number, "schedstat");
            thread->runs = count_runs(thread->runs_file);
            if (thread->runs == 0) {
                find_threads();
                return false;
            }
        }
        if (!sleeps(thread)) return false;
    }
    if (!has_all_threads()) return false;
    for (size_t index = 0; index < thread_count; index++) {
        const struct thread *thread = &threads[index];
        if (thread->number != own && (!sleeps(thread) || count_runs(thread->runs_file) != thread->runs)) return false;
    }
    return true;
}
