import CLibrary

/// The types of sockets that this package opens, as numbers. The GNU C library declares them as an enumeration, musl as
/// numbers.
package enum SocketKind {
    #if canImport(Musl)
        /// A stream socket.
        package static let stream = SOCK_STREAM
        /// A datagram socket.
        package static let datagram = SOCK_DGRAM
        private static let flags = SOCK_NONBLOCK | SOCK_CLOEXEC
    #else
        /// A stream socket.
        package static let stream = Int32(SOCK_STREAM.rawValue)
        /// A datagram socket.
        package static let datagram = Int32(SOCK_DGRAM.rawValue)
        private static let flags = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    #endif

    /// Returns the type of a non-blocking socket that child processes do not inherit.
    package static func nonBlocking(_ kind: Int32) -> Int32 { kind | flags }
}
