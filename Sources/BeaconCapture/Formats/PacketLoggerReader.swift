import BeaconModel
import BeaconRadio

/// A reader of the format of Apple's PacketLogger, `.pklg`.
///
/// Records consist of length, seconds, microseconds and type, then the packet; the length counts everything after
/// itself. There is no magic, and older and newer versions differ in byte order (Wireshark, `wiretap/packetlogger.c`).
struct PacketLoggerReader: FormatReader {
    private static let headerCount = 13
    private static let hciEvent: UInt8 = 0x01
    private static let knownTypes: Set<UInt8> = [
        0x00, 0x01, 0x02, 0x03, 0x08, 0x09, 0x0A, 0x0B, 0xF7, 0xF8, 0xF9, 0xFA, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF,
    ]

    private let isBigEndian: Bool

    /// Detects this format and its byte order in the available content: its first record must be plausible, and the
    /// second if it is available.
    ///
    /// - Returns: nil if it is another format; otherwise true if the most significant byte is first.
    static func detect(_ stream: borrowing ByteStream) -> Bool? {
        for isBigEndian in [true, false] {
            guard stream.available >= headerCount,
                let first = plausibleLength(stream, at: 0, isBigEndian: isBigEndian)
            else { continue }
            if first + headerCount > stream.available
                || plausibleLength(stream, at: first, isBigEndian: isBigEndian) != nil
            {
                return isBigEndian
            }
        }
        return nil
    }

    /// Returns the bytes of the record at `place`, or nil if it is not plausible.
    private static func plausibleLength(
        _ stream: borrowing ByteStream, at place: Int, isBigEndian: Bool
    ) -> Int? {
        let length = Int(stream.number32(at: place, isBigEndian: isBigEndian))
        let microseconds = stream.number32(at: place + 8, isBigEndian: isBigEndian)
        guard (9..<65_536).contains(length), microseconds < 1_000_000,
            knownTypes.contains(stream.buffer[stream.start + place + 12])
        else { return nil }
        return 4 + length
    }

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    mutating func next(
        _ stream: inout ByteStream,
        _ interpreter: inout PacketInterpreter,
        _ batch: inout AdvertBatch
    ) throws -> SourceRecord? {
        guard try stream.fillRecord(Self.headerCount, of: "a record's header") else { return nil }
        guard let count = Self.plausibleLength(stream, at: 0, isBigEndian: isBigEndian) else {
            throw CaptureError(
                .damaged, "a record's length, time or type is not valid; everything before it was read",
                offset: stream.offset)
        }
        try stream.fillRest(count, of: "a record")
        let seconds = Int64(stream.number32(at: 4, isBigEndian: isBigEndian))
        let microseconds = Int64(stream.number32(at: 8, isBigEndian: isBigEndian))
        let time = Timestamp(nanoseconds: seconds * Timestamp.nanosecondsPerSecond + microseconds * 1000)
        if stream.buffer[stream.start + 12] == Self.hciEvent {
            // The flags of btsnoop's datalink 1001: received (1), command or event (2).
            let packet = PacketInterpreter.Packet(
                time: time, link: .hciTypedByRecord, receiverKey: 0, recordType: 3)
            interpreter.interpret(
                packet,
                bytes: stream.buffer.span.bytes.extracting(
                    stream.start + Self.headerCount..<stream.start + count),
                into: &batch)
        } else {
            interpreter.countPacket()
        }
        stream.consume(count)
        return SourceRecord(time: time)
    }
}
