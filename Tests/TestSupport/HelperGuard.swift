import CTestSupport
import Glibc

/// A process that ends whatever the tests started and left, when the process of the tests is no more, however it ended.
///
/// It waits at the end of a pipe whose other end the tests alone hold. What they start, and what that starts, inherits
/// a variable of the environment that nobody else has (CTestSupport), in sessions of its own too. The parent-death
/// signal of prctl(2) would not do: it comes when the thread ends that started the process, and threads that run tasks
/// come and go.
enum HelperGuard {
    /// Starts it, once.
    static func start() { _ = started }

    private static let started: Int32? = getenv(BEACON_TEST_MARK).flatMap { value in
        start(endingWhatHas: "\(BEACON_TEST_MARK)=\(String(cString: value))")
    }

    /// Looks twice at least, since a process may start another while it looks.
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

    /// Starts one that ends every process with a variable in its environment.
    ///
    /// - Parameter mark: the variable, as `NAME=VALUE`.
    /// - Returns: the end of the pipe that keeps it waiting; nil where the system could not start it.
    static func start(endingWhatHas mark: String) -> Int32? {
        let end = beacon_test_start(script, mark)
        return end < 0 ? nil : end
    }
}
