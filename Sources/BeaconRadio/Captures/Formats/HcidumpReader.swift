import BeaconModel

/// Reads the text that `hcidump -R` prints: a packet begins with `>` (received) or `<` (sent) and hexadecimal bytes,
/// and goes on in lines that begin with a space. With `-t` a date and a time come first; they are taken as UTC.
struct HcidumpReader: FormatReader {
    /// The line that opens a packet.
    private struct Opening {
        var isReceived: Bool
        var time: Timestamp?
        /// Where in the line the packet's bytes begin.
        var bytes: Int
    }

    private static let received = UInt8(ascii: ">")
    private static let sent = UInt8(ascii: "<")
    private static let space = UInt8(ascii: " ")
    private var lines = LineReader()
    private var packet: [UInt8] = []
    private var hasSeenPacket = false

    /// How many bytes tell a packet with a date: `2026-11-21 10:11:12.345678 >`.
    static let datedOpeningCount = 28

    /// Whether more bytes than are at hand may be needed to tell such text, as where it comes through a pipe.
    static func mayBeginWithDate(_ stream: borrowing ByteStream) -> Bool {
        stream.available > 0 && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(stream.buffer[stream.start])
    }

    /// Whether the content at hand is such text.
    static func detect(_ stream: borrowing ByteStream) -> Bool {
        let head = stream.buffer[stream.start..<min(stream.end, stream.start + 512)]
        guard let line = head.split(separator: UInt8(ascii: "\n")).first else { return false }
        return line.starts(with: "HCI sniffer".utf8) || line.starts(with: "device:".utf8) || opening(of: line) != nil
    }

    private static func opening(of line: ArraySlice<UInt8>) -> Opening? {
        guard let first = line.first else { return nil }
        if first == received || first == sent {
            guard line.count == 1 || line[line.startIndex + 1] == space else { return nil }
            return Opening(isReceived: first == received, time: nil, bytes: 1)
        }
        guard let (time, end) = DateText.parse(line), end < line.endIndex,
            line[end] == received || line[end] == sent
        else { return nil }
        return Opening(isReceived: line[end] == received, time: time, bytes: end + 1 - line.startIndex)
    }

    mutating func next(
        _ stream: inout ByteStream,
        _ interpreter: inout PacketInterpreter,
        _ deliver: (Reception, RawSpan) throws -> Void
    ) throws -> SourceRecord? {
        while let (content, whole) = try lines.next(in: &stream) {
            let line = stream.buffer[stream.start..<stream.start + content]
            guard let opening = Self.opening(of: line) else {
                // Before the first packet stands the tool's own greeting.
                guard line.isEmpty || !hasSeenPacket else {
                    throw CaptureError(
                        .damaged, "a line is neither a packet nor the continuation of one; what came before was read",
                        offset: stream.offset)
                }
                stream.consume(whole)
                continue
            }
            hasSeenPacket = true
            let offset = stream.offset
            packet.removeAll(keepingCapacity: true)
            try append(line.dropFirst(opening.bytes), offset: offset + opening.bytes)
            stream.consume(whole)
            try readContinuations(&stream, openedAt: offset)
            if opening.isReceived {
                try interpreter.interpret(
                    PacketInterpreter.Packet(time: opening.time, link: .hciH4, receiverKey: 0),
                    bytes: packet.span.bytes, deliver: deliver)
            } else {
                interpreter.countPacket()
            }
            return SourceRecord(time: opening.time)
        }
        return nil
    }

    /// Reads the lines that belong to the packet that was opened at `offset`.
    private mutating func readContinuations(_ stream: inout ByteStream, openedAt offset: Int) throws(CaptureError) {
        while true {
            let next: (content: Int, whole: Int)?
            do throws(CaptureError) {
                next = try lines.next(in: &stream)
            } catch {
                // A packet that is whole is delivered first; the fault comes back with the next line.
                guard isCut else { return }
                throw error
            }
            guard let (content, whole) = next else { break }
            let line = stream.buffer[stream.start..<stream.start + content]
            guard line.first == Self.space else { return }
            try append(line, offset: stream.offset)
            stream.consume(whole)
        }
        // Only the last packet can be cut; one that is too short elsewhere was written so.
        guard isCut else { return }
        throw CaptureError(.truncated, "the file ends inside a packet; what came before was read", offset: offset)
    }

    /// Whether the packet has fewer bytes than it says, or too few to say it (Core Specification, Vol 4, Part A, 2 and
    /// Part E, 5.4).
    private var isCut: Bool {
        guard let type = packet.first else { return true }
        let header: Int
        switch type {
        case 0x01, 0x03: header = 4
        case 0x02: header = 5
        case 0x04: header = 3
        default: return false
        }
        guard packet.count >= header else { return true }
        let length = type == 0x02 ? Int(packet[3]) | Int(packet[4]) << 8 : Int(packet[header - 1])
        return packet.count < header + length
    }

    /// Adds the bytes of a line, which lies at `offset` in the content, to the packet.
    private mutating func append(_ line: ArraySlice<UInt8>, offset: Int) throws(CaptureError) {
        var high: UInt8?
        for index in line.indices {
            if let value = Hexadecimal.value(of: line[index]) {
                if let first = high {
                    packet.append(first << 4 | value)
                    high = nil
                } else {
                    high = value
                }
            } else if line[index] != Self.space || high != nil {
                throw CaptureError(
                    .damaged, "a packet holds something that is no hexadecimal byte; what came before was read",
                    offset: offset + index - line.startIndex)
            }
        }
        guard high == nil else {
            throw CaptureError(
                .truncated, "a packet ends in the middle of a byte; what came before was read",
                offset: offset + line.count)
        }
    }
}
