// Delays each sync of the disk. Preloaded by ld.so, it sleeps for a number of milliseconds: the 64-bit number at the start
// of the file DISK_DELAY, which can change at any time.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *delay;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("DISK_DELAY");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *page = mmap(NULL, sizeof *delay, PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) delay = page;
    close(file);
}

static int slow(long call, int file) {
    int64_t milliseconds = delay ? *delay : 0;
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    if (milliseconds > 0) nanosleep(&time, NULL);
    return (int)syscall(call, file);
}

int fsync(int file) { return slow(SYS_fsync, file); }

int fdatasync(int file) { return slow(SYS_fdatasync, file); }
