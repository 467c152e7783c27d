import CTestSupport
import Glibc

/// A process that kills all leftover child processes of the tests when the test process ends in any way.
///
/// It waits at a pipe whose other end only the test process holds. All children and their descendants inherit a unique
/// environment variable (CTestSupport), even in separate sessions. The parent-death signal of prctl(2) would not work:
/// it arrives when the thread ends that started the process, and the threads of tasks end at any time.
enum HelperGuard {
    /// Starts the guard once.
    static func start() { _ = started }

    private static let started: Int32? = getenv(BEACON_TEST_MARK).flatMap { value in
        start(endingWhatHas: "\(BEACON_TEST_MARK)=\(String(cString: value))")
    }

    /// Checks at least twice, since a process may start another one during the check.
    private static let script = """
        cat > /dev/null
        found=yes
        while [ -n "$found" ]; do
            found=
            for process in /proc/[0-9]*; do
                if grep -qzxF "$0" "$process/environ" 2> /dev/null; then
                    kill -9 "${process#/proc/}" 2> /dev/null && found=yes
                fi
            done
        done
        """

    /// Starts a guard for all processes with a variable in their environment.
    ///
    /// - Parameter mark: the variable, as `NAME=VALUE`.
    /// - Returns: the end of the pipe that keeps the guard waiting; nil if the system could not start it.
    static func start(endingWhatHas mark: String) -> Int32? {
        let end = beacon_test_start(script, mark)
        return end < 0 ? nil : end
    }
}
