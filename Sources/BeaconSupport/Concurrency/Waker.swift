import CLibrary

/// A descriptor that lets any thread end another thread's wait in `poll`, whether current or next.
///
/// It is a pair of sockets, since an event descriptor (eventfd(2)) requires C. If the process has no descriptors left,
/// ``descriptor`` is -1, which `poll` ignores. Then the thread continues when its time-out ends: each thread that waits
/// for a waker has one.
package final class Waker: Sendable {
    /// The descriptor to poll for reading.
    package let descriptor: Int32

    private let entrance: Int32

    /// Creates a waker without pending calls.
    package init() {
        var ends: [Int32] = [-1, -1]
        _ = socketpair(AF_UNIX, SocketKind.nonBlocking(SocketKind.stream), 0, &ends)
        (descriptor, entrance) = (ends[0], ends[1])
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        close(entrance)
    }

    /// Ends the current wait, or the next one.
    package func wake() {
        var byte: UInt8 = 1
        // If the socket is full, it is readable as well. There is no SIGPIPE: both ends live as long as this object.
        _ = write(entrance, &byte, 1)
    }

    /// Discards earlier calls of ``wake()``.
    package func reset() {
        var bytes: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        while read(descriptor, &bytes, MemoryLayout.size(ofValue: bytes)) > 0 {}
    }

    /// Waits for a call of ``wake()`` and discards it.
    ///
    /// - Parameter milliseconds: the longest wait.
    package func wait(atMost milliseconds: Int32) {
        var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        poll(&waited, 1, milliseconds)
        reset()
    }
}
