import Glibc

/// A pair of sockets by which one thread wakes another out of `poll`.
final class WakeUp: Sendable {
    /// What to poll for reading.
    let descriptor: Int32

    private let entrance: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        // It fails only where the process may have no more descriptors. A thread that polls none is woken by its
        // time-outs alone.
        let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        _ = socketpair(AF_UNIX, Int32(kind), 0, &ends)
        (descriptor, entrance) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(entrance)
    }

    /// Ends a wait that is under way, or else the next one.
    func signal() {
        var byte: UInt8 = 1
        // One that is full wakes as well.
        _ = write(entrance, &byte, 1)
    }

    /// Forgets all signals so far.
    func reset() {
        var bytes: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        while read(descriptor, &bytes, MemoryLayout.size(ofValue: bytes)) > 0 {}
    }

    /// Waits for a signal, at most so long.
    func wait(atMost duration: Duration) {
        var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        poll(&waited, 1, duration.wholeMilliseconds)
        reset()
    }
}
