import BeaconModel
import BeaconRadio

/// A reader of btsnoop, the format of `btmon -w` and of Android's HCI log.
///
/// Layout: eight bytes `btsnoop` with a zero, version, datalink; then records of original length, included length,
/// flags, drops, time and packet, all numbers most significant byte first (RFC 1761 with the datalinks of BlueZ).
struct BtsnoopReader: FormatReader {
    static let magic: [UInt8] = Array("btsnoop\0".utf8)

    /// The microseconds from the year 0, the origin of btsnoop, to 1970 (Wireshark, `wiretap/btsnoop.c`).
    static let epoch: Int64 = 0x00DC_DDB3_0F2F_8000

    static let headerCount = 16
    static let recordHeaderCount = 24

    /// HCI packets are much smaller; a greater length is a flipped bit.
    private static let largestPacket = 1 << 17

    private let link: LinkType

    /// Reads the file's header.
    init(_ stream: inout ByteStream) throws(CaptureError) {
        try stream.fillRest(Self.headerCount, of: "the btsnoop header")
        let datalink = stream.number32(at: 12, isBigEndian: true)
        guard let link = LinkType(btsnoop: datalink) else {
            throw CaptureError(
                .unsupported,
                "btsnoop with datalink \(datalink) is not supported; 1001, 1002 and 2001 are. "
                    + "Record with 'btmon -w FILE' instead",
                offset: 12)
        }
        self.link = link
        stream.consume(Self.headerCount)
    }

    mutating func next(
        _ stream: inout ByteStream,
        _ interpreter: inout PacketInterpreter,
        _ batch: inout AdvertBatch
    ) throws -> SourceRecord? {
        guard try stream.fillRecord(Self.recordHeaderCount, of: "a record's header") else { return nil }
        let length = Int(stream.number32(at: 4, isBigEndian: true))
        guard length <= Self.largestPacket else {
            throw CaptureError(
                .damaged,
                "a record claims \(length) bytes, which no Bluetooth packet has; everything before it was read",
                offset: stream.offset)
        }
        try stream.fillRest(Self.recordHeaderCount + length, of: "a record")
        let flags = stream.number32(at: 8, isBigEndian: true)
        let stamp = Int64(bitPattern: stream.number64(at: 16, isBigEndian: true))
        let microseconds = stamp.subtractingReportingOverflow(Self.epoch).partialValue
        let (nanoseconds, overflow) = microseconds.multipliedReportingOverflow(by: 1000)
        let time = overflow ? (microseconds < 0 ? .zero : .latest) : Timestamp(nanoseconds: nanoseconds)
        let packet = stream.start + Self.recordHeaderCount
        interpreter.interpret(
            PacketInterpreter.Packet(time: time, link: link, receiverKey: 0, recordType: flags),
            bytes: stream.buffer.span.bytes.extracting(packet..<packet + length),
            into: &batch)
        stream.consume(Self.recordHeaderCount + length)
        return SourceRecord(time: time)
    }
}
