#ifndef C_TEST_SUPPORT_H
#define C_TEST_SUPPORT_H

/// The environment variable whose value only this process and its descendants have.
#define BEACON_TEST_MARK "BEACON_TEST_PROCESS"

/// Starts a shell script in a separate session, with a pipe as its standard input.
///
/// @param argument the script's $0.
/// @return the other end of the pipe, which no other process gets; -1 if the system could not start it.
int beacon_test_start(const char *script, const char *argument);

#endif
