import Glibc

/// Two ends of a packet connection, which replace an adapter's socket and the adapter.
final class SocketPair {
    private var first: Int32
    let second: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw Failure(number: errno)
        }
        first = ends[0]
        second = ends[1]
    }

    deinit {
        if first >= 0 { close(first) }
        close(second)
    }

    /// Returns the first end, which the caller must close.
    func takeFirst() -> Int32 {
        defer { first = -1 }
        return first
    }

    struct Failure: Error {
        let number: Int32
    }
}
