import CPoll
import Glibc

/// A wait until one of these descriptors has data to read.
enum Readiness {
    /// - Returns: true if there is data, false after the time-out.
    static func wait(for descriptors: [Int32], milliseconds: Int64) -> Bool {
        var polls = descriptors.filter { $0 >= 0 }.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        return beacon_wait(&polls, UInt32(polls.count), milliseconds * 1_000_000) > 0
    }
}
