#include "CCrashReport.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

enum { maximum = 4 };

static const int signals[] = {SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGSEGV, SIGBUS};
enum { signal_count = sizeof signals / sizeof signals[0] };

static struct sigaction previous[signal_count];
static struct beacon_crash_file files[maximum];
static atomic_size_t file_count;

static void write_all(int descriptor, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(descriptor, text, length);
        if (written <= 0) return;
        text += written;
        length -= (size_t)written;
    }
}

static void handle(int number)
{
    // Only once, even if several threads crash.
    size_t count = atomic_exchange(&file_count, 0);
    for (size_t place = 0; place < count; place++) {
        int descriptor = STDERR_FILENO;
        if (files[place].path) descriptor = open(files[place].path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (descriptor < 0) continue;
        write_all(descriptor, files[place].text, files[place].length);
        if (files[place].path) close(descriptor);
    }
    // The instruction or the raise happens again, with the handler that was there before.
    for (size_t place = 0; place < signal_count; place++)
        if (signals[place] == number) sigaction(number, &previous[place], NULL);
    if (number == SIGABRT) raise(number);
}

void beacon_on_crash(const struct beacon_crash_file *new_files, size_t count)
{
    static atomic_bool is_installed;
    // No crash may read a half-written list.
    atomic_store(&file_count, 0);
    if (count > maximum) count = maximum;
    for (size_t place = 0; place < count; place++) files[place] = new_files[place];
    atomic_store(&file_count, count);
    if (atomic_exchange(&is_installed, true)) return;
    struct sigaction action = {.sa_handler = handle};
    sigemptyset(&action.sa_mask);
    for (size_t place = 0; place < signal_count; place++) sigaction(signals[place], &action, &previous[place]);
}
