import BeaconModel
import BeaconRadio

/// A reader of the text that `hcidump -R` prints.
///
/// A packet begins with `>` (received) or `<` (sent) and hexadecimal bytes, and continues in lines that begin with a
/// space. With `-t`, a date and a time come first; they count as UTC. Lines of other programs between the packets, for
/// instance remarks of a filter script, are ignored and counted.
struct HcidumpReader: FormatReader {
    /// The first line of a packet.
    private struct Opening {
        var isReceived: Bool
        var time: Timestamp?
        /// The offset of the packet's bytes in the line.
        var bytes: Int
    }

    /// The maximum number of bytes of a packet: its type, the header of ACL data, and the maximum of its length field
    /// (Core Specification, Vol 4, Part A, 2 and Part E, 5.4.2).
    private static let longestPacket = 1 + 4 + 65_535

    private static let received = UInt8(ascii: ">")
    private static let sent = UInt8(ascii: "<")
    private static let space = UInt8(ascii: " ")
    private var lines = LineReader()
    private var packet: [UInt8] = []
    private var hasSeenPacket = false
    private(set) var foreignLines = ForeignLines()

    /// The number of bytes that identify a packet with a date: `2026-11-21 10:11:12.345678 >`.
    static let datedOpeningCount = 28

    /// Returns true if detecting such text may need more bytes than are available, for instance from a pipe.
    static func mayBeginWithDate(_ stream: borrowing ByteStream) -> Bool {
        stream.available > 0 && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(stream.buffer[stream.start])
    }

    /// Returns true if the available content is such text.
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
        _ batch: inout AdvertBatch
    ) throws -> SourceRecord? {
        while let (content, whole) = try lines.next(in: &stream) {
            let line = stream.buffer[stream.start..<stream.start + content]
            guard let opening = Self.opening(of: line) else {
                // The tool's own header comes before the first packet.
                if hasSeenPacket, !line.isEmpty {
                    // A truncated last line may have been the date of a packet.
                    guard content < whole else {
                        throw CaptureError(
                            .truncated,
                            "the file ends inside a line that is not a packet; everything before it was read",
                            offset: stream.offset)
                    }
                    foreignLines.add(at: stream.offset)
                }
                stream.consume(whole)
                continue
            }
            hasSeenPacket = true
            let offset = stream.offset
            if let other = OtherFormat(packetLine: line.dropFirst(opening.bytes), offset: offset) { throw other.error }
            packet.removeAll(keepingCapacity: true)
            try append(line.dropFirst(opening.bytes), offset: offset + opening.bytes)
            stream.consume(whole)
            try readContinuations(&stream, openedAt: offset)
            if opening.isReceived {
                interpreter.interpret(
                    PacketInterpreter.Packet(time: opening.time, link: .hciH4, receiverKey: 0),
                    bytes: packet.span.bytes, into: &batch)
            } else {
                interpreter.countPacket()
            }
            return SourceRecord(time: opening.time)
        }
        return nil
    }

    /// Reads the continuation lines of the packet that begins at `offset`.
    private mutating func readContinuations(_ stream: inout ByteStream, openedAt offset: Int) throws(CaptureError) {
        while true {
            let next: (content: Int, whole: Int)?
            do throws(CaptureError) {
                next = try lines.next(in: &stream)
            } catch {
                // A complete packet is delivered first; the fault occurs again with the next line.
                guard isCut else { return }
                throw error
            }
            guard let (content, whole) = next else { break }
            let line = stream.buffer[stream.start..<stream.start + content]
            guard line.first == Self.space else { return }
            try append(line, offset: stream.offset)
            stream.consume(whole)
        }
        // Only the last packet can be truncated; a packet elsewhere that is too short was written so.
        guard isCut else { return }
        throw CaptureError(.truncated, "the file ends inside a packet; everything before it was read", offset: offset)
    }

    /// A Boolean value that indicates whether the packet has fewer bytes than its length, or no complete length (Core
    /// Specification, Vol 4, Part A, 2 and Part E, 5.4).
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

    /// Adds the bytes of a line at `offset` in the content to the packet.
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
                guard packet.count <= Self.longestPacket else {
                    throw CaptureError(
                        .damaged,
                        "a packet continues after \(Self.longestPacket) bytes, the maximum; everything before it was "
                            + "read",
                        offset: offset + index - line.startIndex)
                }
            } else if line[index] != Self.space || high != nil {
                throw CaptureError(
                    .damaged, "a packet contains other text than hexadecimal bytes; everything before it was read",
                    offset: offset + index - line.startIndex)
            }
        }
        guard high == nil else {
            throw CaptureError(
                .truncated, "a packet ends in the middle of a byte; everything before it was read",
                offset: offset + line.count)
        }
    }
}

/// The dates in the format of `hcidump -t`: `2026-11-21 10:11:12.345678`.
enum DateText {
    /// Reads a date at the beginning of a line.
    ///
    /// - Returns: nil if there is no date; otherwise the time, taken as UTC, and the start of the next word.
    static func parse(_ line: ArraySlice<UInt8>) -> (Timestamp, Int)? {
        var index = line.startIndex
        func number(_ digits: Int, then separator: Character?) -> Int? {
            guard index + digits <= line.endIndex else { return nil }
            var value = 0
            for character in line[index..<index + digits] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) else { return nil }
                value = value * 10 + Int(character - UInt8(ascii: "0"))
            }
            index += digits
            if let separator {
                guard index < line.endIndex, line[index] == separator.asciiValue else { return nil }
                index += 1
            }
            return value
        }
        guard let year = number(4, then: "-"), let month = number(2, then: "-"), let day = number(2, then: " "),
            let hour = number(2, then: ":"), let minute = number(2, then: ":"), let second = number(2, then: "."),
            let microsecond = number(6, then: " "), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        let days = GregorianDate(year: year, month: month, day: day).daysSince1970
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second
        // Four digits can name years beyond nanoseconds in 64 bits.
        let time = Timestamp(seconds: Double(seconds)) ?? (seconds < 0 ? .zero : .latest)
        return (time.advanced(by: Int64(microsecond) * 1000), index)
    }
}
