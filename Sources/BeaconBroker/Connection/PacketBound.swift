import CLibrary
import CMosquitto

/// The size limit for packets from a broker.
///
/// A client of MQTT 5 announces its limit. With 3.1.1 it can only end the connection, because the library reads a
/// packet completely and holds a message twice before passing it on.
struct PacketBound {
    /// The packet size at which a client ends the connection. A smaller message that is still too long is read and
    /// dropped, so that a retained one does not end each connection.
    static let largest = 16 << 20

    /// The maximum number of bytes before the content of a packet: its type, and four bytes of length (MQTT 3.1.1,
    /// 2.2).
    private static let longestHeader = 5

    /// The number of bytes before the first packet of unknown size.
    private var bytesBeforeNext: Int64 = 0

    /// A buffer for peeking at unread bytes. It has room for several short packets, because the library may read
    /// several at once.
    private var peeked = [UInt8](repeating: 0, count: 4096)

    /// The number of bytes read from the socket, if it was determined since the last read.
    private var bytesRead: Int64?

    /// The number of unread bytes after the last read; 0 if unknown.
    private(set) var unread = 0

    /// The number of bytes read at the end of the last packet, or slightly less.
    private var bytesAtEnd: Int64 = 0

    /// Returns the number of complete packets that visibly wait to be read, at least one; nil if a packet that is too
    /// large begins among them. The socket must not use TLS.
    ///
    /// If the library has read more packets at once than the buffer could hold, the start of the next packet is
    /// unknown. Then only the limit of ``isExceededByRead(of:hasEnded:)`` applies.
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

    /// Returns whether more bytes than a packet may have were read from a socket without the end of a packet.
    mutating func isExceededByRead(of socket: Int32, hasEnded: Bool) -> Bool {
        var waiting: Int32 = 0
        let bytes = beacon_mosquitto_bytes_read(socket, &waiting)
        (bytesRead, unread) = (bytes, Int(waiting))
        guard bytes >= 0 else { return false }
        if hasEnded { bytesAtEnd = bytes }
        return bytes - bytesAtEnd > Self.largest
    }

    /// Returns the size of the packet with a header; nil if the header is incomplete.
    private static func size(_ header: ArraySlice<UInt8>) -> Int? {
        var length = 0
        for (index, byte) in header.dropFirst().enumerated() {
            length |= Int(byte & 0x7F) << (7 * index)
            if byte & 0x80 == 0 { return length + index + 2 }
        }
        return nil
    }
}
