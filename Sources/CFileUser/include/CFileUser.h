#pragma once

// Swift does not see sys/fsuid.h. Has the calling thread touch files as this user and group, until it is called again with
// its own; the rest of the process goes on as before (setfsuid(2)). Gives 0, or -1 where that is not allowed, and then
// nothing has changed.
int beacon_use_files_as(unsigned int user, unsigned int group);
