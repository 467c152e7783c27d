#ifndef C_TEST_SUPPORT_H
#define C_TEST_SUPPORT_H

/// The variable of the environment whose value only this process and those that it started have.
#define BEACON_TEST_MARK "BEACON_TEST_PROCESS"

/// Starts a shell script in a session of its own, with a pipe as its standard input.
///
/// @param argument what the script knows as $0.
/// @return the other end of the pipe, which no other process gets; -1 where the system could not start it.
int beacon_test_start(const char *script, const char *argument);

#endif
