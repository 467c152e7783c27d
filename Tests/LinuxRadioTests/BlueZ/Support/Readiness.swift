import CPoll
import Glibc

/// Waits until there is something to read at one of these descriptors.
enum Readiness {
    /// - Returns: whether there is, or nothing came in time.
    static func wait(for descriptors: [Int32], milliseconds: Int64) -> Bool {
        var polls = descriptors.filter { $0 >= 0 }.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        return beacon_wait(&polls, UInt32(polls.count), milliseconds * 1_000_000) > 0
    }
}
