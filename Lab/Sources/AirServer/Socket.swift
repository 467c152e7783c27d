import Glibc

/// A listening unix socket and its single peer. Neither ever blocks.
final class Socket {
    private let path: String
    private let listener: Int32
    private var peer: Int32 = -1

    /// True if a peer is or was connected.
    private(set) var hadPeer = false

    /// True if a peer is connected.
    var hasPeer: Bool { peer >= 0 }

    /// The descriptor to wait for: the peer, or the listener while there is no peer.
    var descriptor: Int32 { hasPeer ? peer : listener }

    /// Creates the socket, and replaces a stale one of this name.
    init(path: String) throws {
        self.path = path
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < capacity else { throw SocketError("\(path) is too long for a socket's name") }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        unlink(path)
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        listener = socket(AF_UNIX, type, 0)
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard listener >= 0, bound == 0, listen(listener, 1) == 0 else {
            throw SocketError("cannot create the socket \(path)", errno)
        }
    }

    deinit {
        hangUp(peer)
        close(listener)
        unlink(path)
    }

    private func hangUp(_ descriptor: Int32) {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Reads available bytes, or accepts a peer.
    ///
    /// - Returns: the bytes; empty if there are none for now.
    func read() -> [UInt8] {
        guard hasPeer else {
            peer = accept(listener, nil, nil)
            if hasPeer {
                _ = fcntl(peer, F_SETFL, O_NONBLOCK)
                hadPeer = true
            }
            return []
        }
        return withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 1) { buffer in
            let count = Glibc.read(peer, buffer.baseAddress, buffer.count)
            if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR {
                hangUp(peer)
                peer = -1
            }
            return Array(buffer.prefix(max(0, count)))
        }
    }

    /// Writes as many bytes as the peer accepts now.
    ///
    /// - Returns: the number of bytes written.
    func write(_ bytes: [UInt8]) -> Int {
        guard hasPeer, !bytes.isEmpty else { return 0 }
        // A read notices a peer that has disconnected. A write to it must not end the process (SIGPIPE).
        return max(
            0, bytes.withUnsafeBytes { send(peer, $0.baseAddress, $0.count, Int32(truncatingIfNeeded: MSG_NOSIGNAL)) })
    }
}
