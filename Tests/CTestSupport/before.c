#define _GNU_SOURCE
#include "CTestSupport.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/// Sets environment variables before another thread could read them.
///
/// By default, Swift Testing starts all tests at once, hundreds on two processors, and tests that wait for a server
/// wait for all others. This limits them to the number of threads of tasks, so that one thread is left for such a wait.
/// It is set here for `swift test`, editors and scripts/test alike. It keeps a value that the user set.
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
