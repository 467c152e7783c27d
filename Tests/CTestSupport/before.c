#define _GNU_SOURCE
#include "CTestSupport.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/// Sets the environment before there is a second thread that could read it.
///
/// Swift Testing starts all tests at once otherwise, hundreds on two processors: those that wait for a server wait for
/// all others. As many as there are threads that run tasks leaves a thread to whatever a test waits for. It is here,
/// since `swift test`, an editor and scripts/test are all to do the same; a value that somebody chose is kept.
__attribute__((constructor)) static void before_tests(void)
{
    char text[64];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    snprintf(text, sizeof text, "%ld", processors > 2 ? processors : 2);
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", text, 0);

    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(text, sizeof text, "%ld-%lld.%09ld", (long)getpid(), (long long)now.tv_sec, now.tv_nsec);
    setenv(BEACON_TEST_MARK, text, 1);
}
