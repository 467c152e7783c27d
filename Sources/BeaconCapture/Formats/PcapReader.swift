import BeaconModel
import BeaconRadio

/// A reader of pcap, the older format of tcpdump and Wireshark.
///
/// Layout: magic, version, zone, accuracy, largest packet, link type; then records of seconds, fraction, included
/// length, original length and packet, in the byte order of the magic (draft-ietf-opsawg-pcap).
struct PcapReader: FormatReader {
    static let headerCount = 24
    static let recordHeaderCount = 16

    private static let microsecondMagic: UInt32 = 0xA1B2_C3D4
    private static let nanosecondMagic: UInt32 = 0xA1B2_3C4D

    /// The largest packet that tcpdump writes (`MAXIMUM_SNAPLEN`); a greater length is a flipped bit.
    static let largestPacket = 1 << 18

    private let link: LinkType
    private let isBigEndian: Bool
    private let nanosecondsPerUnit: Int64

    /// Returns true if a file that begins with these four bytes, read most significant byte first, is pcap.
    static func isMagic(_ number: UInt32) -> Bool {
        [microsecondMagic, nanosecondMagic].contains { $0 == number || $0 == number.byteSwapped }
    }

    /// Reads the file's header.
    init(_ stream: inout ByteStream) throws(CaptureError) {
        try stream.fillRest(Self.headerCount, of: "the pcap header")
        let magic = stream.number32(at: 0, isBigEndian: true)
        isBigEndian = magic == Self.microsecondMagic || magic == Self.nanosecondMagic
        nanosecondsPerUnit = magic == Self.nanosecondMagic || magic.byteSwapped == Self.nanosecondMagic ? 1 : 1000
        // The upper bits describe checksums, which Bluetooth's link types do not use.
        let number = UInt16(truncatingIfNeeded: stream.number32(at: 20, isBigEndian: isBigEndian))
        guard let link = LinkType(pcap: number) else { throw Self.unsupported(number, offset: 20) }
        self.link = link
        stream.consume(Self.headerCount)
    }

    static func unsupported(_ number: UInt16, offset: Int) -> CaptureError {
        CaptureError(
            .unsupported,
            "packets of link type \(number) are not readable Bluetooth Low Energy; "
                + "187, 201, 251, 254, 256 and 272 are",
            offset: offset)
    }

    mutating func next(
        _ stream: inout ByteStream,
        _ interpreter: inout PacketInterpreter,
        _ batch: inout AdvertBatch
    ) throws -> SourceRecord? {
        guard try stream.fillRecord(Self.recordHeaderCount, of: "a record's header") else { return nil }
        let length = Int(stream.number32(at: 8, isBigEndian: isBigEndian))
        guard length <= Self.largestPacket else {
            throw CaptureError(
                .damaged, "a record claims \(length) bytes, which no packet has; everything before it was read",
                offset: stream.offset)
        }
        try stream.fillRest(Self.recordHeaderCount + length, of: "a record")
        let seconds = Int64(stream.number32(at: 0, isBigEndian: isBigEndian))
        let fraction = Int64(stream.number32(at: 4, isBigEndian: isBigEndian)) * nanosecondsPerUnit
        let time = Timestamp(nanoseconds: seconds * Timestamp.nanosecondsPerSecond + fraction)
        let packet = stream.start + Self.recordHeaderCount
        interpreter.interpret(
            PacketInterpreter.Packet(time: time, link: link, receiverKey: 0),
            bytes: stream.buffer.span.bytes.extracting(packet..<packet + length),
            into: &batch)
        stream.consume(Self.recordHeaderCount + length)
        return SourceRecord(time: time)
    }
}
