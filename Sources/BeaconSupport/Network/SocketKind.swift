import CLibrary

/// The kinds of sockets that this package opens, as numbers: the GNU C library has them as an enumeration, and musl as
/// they are.
package enum SocketKind {
    #if canImport(Musl)
        /// A stream.
        package static let stream = SOCK_STREAM
        /// Single messages.
        package static let datagram = SOCK_DGRAM
        private static let flags = SOCK_NONBLOCK | SOCK_CLOEXEC
    #else
        /// A stream.
        package static let stream = Int32(SOCK_STREAM.rawValue)
        /// Single messages.
        package static let datagram = Int32(SOCK_DGRAM.rawValue)
        private static let flags = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    #endif

    /// Returns a kind for a socket at which nobody waits, and which programs that are started do not get.
    package static func nonBlocking(_ kind: Int32) -> Int32 { kind | flags }
}
