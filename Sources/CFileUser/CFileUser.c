#include "CFileUser.h"

#include <sys/fsuid.h>

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
