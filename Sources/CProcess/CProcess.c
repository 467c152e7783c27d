#define _GNU_SOURCE
#include "CProcess.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int beacon_memory_file(const void *bytes, size_t count) {
    int file = memfd_create("beacon event", MFD_CLOEXEC);
    if (file < 0) return -1;
    const char *rest = bytes;
    while (count > 0) {
        ssize_t written = write(file, rest, count);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            int error = errno;
            close(file);
            errno = error;
            return -1;
        }
        rest += written;
        count -= (size_t)written;
    }
    if (lseek(file, 0, SEEK_SET) < 0) {
        int error = errno;
        close(file);
        errno = error;
        return -1;
    }
    return file;
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
