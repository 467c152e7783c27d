import CLibrary
import CMosquitto

/// The bound on packets that a broker sends.
///
/// A client tells a broker of MQTT 5 the bound. With 3.1.1 it can only hang up: the library reads a packet whole, and
/// holds a message twice before it hands it on.
struct PacketBound {
    /// The size of a packet at which a client hangs up. Up to it, a message that is too long is read and dropped, so
    /// that a retained one does not end each connection.
    static let largest = 16 << 20

    /// The most bytes before the content of a packet: its kind, and four of its length (MQTT 3.1.1, 2.2).
    private static let longestHeader = 5

    /// The bytes before the first packet whose size is not known.
    private var bytesBeforeNext: Int64 = 0

    /// A buffer for bytes that wait to be read. It has room for several short packets, since the library may read
    /// several at once.
    private var peeked = [UInt8](repeating: 0, count: 4096)

    /// The bytes that were read of the socket, where that was asked for since the last read.
    private var bytesRead: Int64?

    /// The bytes that wait to be read, as of the last read; 0 where that is not known.
    private(set) var unread = 0

    /// The bytes that were read when a packet last ended, or a little less.
    private var bytesAtEnd: Int64 = 0

    /// Returns how many whole packets wait to be read, as far as can be seen, at least one; nil where one that is too
    /// large begins among the bytes that wait. The socket has no TLS.
    ///
    /// Once the library has read more packets at once than the buffer had, no one knows where a packet begins. The
    /// bound of ``isExceededByRead(of:hasEnded:)`` remains.
    mutating func countPackets(on socket: Int32) -> Int? {
        let bytes = bytesRead ?? beacon_mosquitto_bytes_read(socket, nil)
        guard bytes >= 0, bytesBeforeNext >= bytes, bytesBeforeNext - bytes < peeked.count else { return 1 }
        let count = recv(socket, &peeked, peeked.count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        var next = Int(bytesBeforeNext - bytes)
        var packets = 0
        while next < count, let size = Self.size(peeked[next..<min(next + Self.longestHeader, count)]) {
            guard size <= Self.largest else { return nil }
            next += size
            bytesBeforeNext += Int64(size)
            if next <= count { packets += 1 }
        }
        return max(packets, 1)
    }

    /// Returns true where more was read from a socket than a packet may have, and none has ended.
    mutating func isExceededByRead(of socket: Int32, hasEnded: Bool) -> Bool {
        var waiting: Int32 = 0
        let bytes = beacon_mosquitto_bytes_read(socket, &waiting)
        (bytesRead, unread) = (bytes, Int(waiting))
        guard bytes >= 0 else { return false }
        if hasEnded { bytesAtEnd = bytes }
        return bytes - bytesAtEnd > Self.largest
    }

    /// Returns the size of the packet with a header; nil where more bytes of it have to come.
    private static func size(_ header: ArraySlice<UInt8>) -> Int? {
        var length = 0
        for (index, byte) in header.dropFirst().enumerated() {
            length |= Int(byte & 0x7F) << (7 * index)
            if byte & 0x80 == 0 { return length + index + 2 }
        }
        return nil
    }
}
