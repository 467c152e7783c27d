#define _GNU_SOURCE
#include "CTestSupport.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

int beacon_test_start(const char *script, const char *argument)
{
    int ends[2];
    // Set the flag atomically: other threads start processes at the same time.
    if (pipe2(ends, O_CLOEXEC) < 0) return -1;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
    // A reader of the tests' output waits until no process holds it open.
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    // Ctrl-C must not end the guard.
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    char *words[] = {"/bin/sh", "-c", (char *)script, (char *)argument, 0};
    // Without the mark, so that it does not kill itself.
    char *environment[] = {"PATH=/usr/bin:/bin", 0};
    pid_t process;
    int failure = posix_spawn(&process, words[0], &actions, &attributes, words, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(ends[0]);
    if (!failure) return ends[1];
    close(ends[1]);
    return -1;
}
