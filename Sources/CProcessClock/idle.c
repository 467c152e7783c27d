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

// How often a thread has run, and for how long. The kernel adds the time when the thread stops running.
struct runs {
    unsigned long long time, count;
};

// A thread of the process, and its open files in /proc. Used by one thread at a time.
struct thread {
    long number;
    int state_file, runs_file;
    struct runs runs;
    // A main thread that has ended stays in the list.
    bool has_ended;
};

static struct thread *threads;
static size_t thread_count;
static DIR *directory;

static bool read_file(int file, char *text, size_t size) {
    ssize_t length = pread(file, text, size - 1, 0);
    if (length > 0) text[length] = 0;
    return length > 0;
}

// Returns a count of 0 if the thread has ended.
static struct runs read_runs(int file) {
    char text[128];
    struct runs runs = {0, 0};
    if (!read_file(file, text, sizeof text)) return runs;
    char *rest;
    runs.time = strtoull(text, &rest, 10);
    strtoull(rest, &rest, 10);  // The time in the queue.
    runs.count = strtoull(rest, NULL, 10);
    return runs;
}

// False for a thread that waits for a disk: it will run.
static bool sleeps(struct thread *thread) {
    char text[512];
    if (!read_file(thread->state_file, text, sizeof text)) return false;
    const char *name_end = strrchr(text, ')');
    if (!name_end || name_end[1] != ' ') return false;
    char state = name_end[2];
    thread->has_ended = state == 'Z';
    return state != 'R' && state != 'D';
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
        struct thread thread = {.number = number, .state_file = -1, .runs_file = -1};
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
    struct runs runs = read_runs(file);
    close(file);
    return runs.count > 0;
}

// Reads how long each thread has run, then whether it sleeps, then whether it has run in between. If none has, no thread
// ran between the end of the first look and the beginning of the last one. A thread that slept in the second look then
// slept at the end of the first one, too. A thread that begins or ends in between has run.
bool beacon_process_is_idle(void) {
    pthread_mutex_lock(&beacon_clock_lock);
    bool wakes = beacon_waits_wake(beacon_moment);
    pthread_mutex_unlock(&beacon_clock_lock);
    if (wakes || (!directory && !(directory = opendir("/proc/self/task")))) return false;
    if (!has_all_threads()) find_threads();
    long own = syscall(SYS_gettid);
    for (size_t index = 0; index < thread_count; index++) {
        struct thread *thread = &threads[index];
        if (thread->number == own || thread->has_ended) continue;
        thread->runs = read_runs(thread->runs_file);
        if (thread->runs.count > 0) continue;
        // A new thread, or another one with the number of an ended one.
        close_thread(thread);
        thread->state_file = open_file(thread->number, "stat");
        thread->runs_file = open_file(thread->number, "schedstat");
        thread->runs = read_runs(thread->runs_file);
        if (thread->runs.count == 0) {
            find_threads();
            return false;
        }
    }
    for (size_t index = 0; index < thread_count; index++) {
        struct thread *thread = &threads[index];
        if (thread->number != own && !thread->has_ended && !sleeps(thread)) return false;
    }
    if (!has_all_threads()) return false;
    for (size_t index = 0; index < thread_count; index++) {
        const struct thread *thread = &threads[index];
        if (thread->number == own || thread->has_ended) continue;
        struct runs runs = read_runs(thread->runs_file);
        if (runs.time != thread->runs.time || runs.count != thread->runs.count) return false;
    }
    return true;
}
