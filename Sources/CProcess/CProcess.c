#define _GNU_SOURCE
#include "CProcess.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// The calls give the number before and no error; whether they worked is told by asking again with a number that is none.
static unsigned int current_user(void) { return (unsigned int)setfsuid((uid_t)-1); }
static unsigned int current_group(void) { return (unsigned int)setfsgid((gid_t)-1); }

int beacon_use_files_as(unsigned int user, unsigned int group) {
    unsigned int user_before = current_user();
    unsigned int group_before = current_group();
    // On the way back to root, the user comes first: another has no right to change the group.
    if (user == 0) {
        setfsuid(user);
    }
    setfsgid(group);
    setfsuid(user);
    if (current_user() == user && current_group() == group) {
        return 0;
    }
    setfsuid(user_before);
    setfsgid(group_before);
    return -1;
}

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

int beacon_keep_capabilities(void) {
    // A kernel before 4.3 has no ambient set, and then nothing to clear.
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL) return -1;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, sets) != 0) return -1;
    for (int word = 0; word < _LINUX_CAPABILITY_U32S_3; word += 1) sets[word].inheritable = 0;
    return (int)syscall(SYS_capset, &header, sets);
}
