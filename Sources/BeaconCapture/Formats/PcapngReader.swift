import BeaconModel
import BeaconRadio

/// A reader of pcapng, the newer format of Wireshark: blocks of type, length, body and length again
/// (draft-ietf-opsawg-pcapng).
struct PcapngReader: FormatReader {
    /// The type of the block that begins a section, the same in either byte order.
    static let sectionHeader: UInt32 = 0x0A0D_0D0A

    private static let interfaceDescription: UInt32 = 1
    private static let obsoletePacket: UInt32 = 2
    private static let simplePacket: UInt32 = 3
    private static let enhancedPacket: UInt32 = 6
    private static let byteOrderMagic: UInt32 = 0x1A2B_3C4D

    /// Blocks that describe or hold packets are far smaller; longer blocks of these types are damaged.
    private static let largestBlock = 1 << 20

    /// A section's description of one interface.
    private struct Interface {
        var link: LinkType?
        var key: UInt32
        var resolution = Resolution.decimal(6)
        var offsetSeconds: Int64 = 0
    }

    /// The unit of time.
    private enum Resolution {
        /// 10 to the power of minus this, in seconds.
        case decimal(UInt8)
        /// 2 to the power of minus this, in seconds.
        case binary(UInt8)
    }

    private var isBigEndian = false
    private var interfaces: [Interface] = []
    private var hasReadable = false
    private var unreadable: UInt16?

    mutating func next(
        _ stream: inout ByteStream,
        _ interpreter: inout PacketInterpreter,
        _ batch: inout AdvertBatch
    ) throws -> SourceRecord? {
        while try stream.fillRecord(12, of: "a block") {
            if stream.number32(at: 0, isBigEndian: true) == Self.sectionHeader {
                try startSection(stream)
                interpreter.receivers.forgetKeys()
            }
            let type = stream.number32(at: 0, isBigEndian: isBigEndian)
            let length = Int(stream.number32(at: 4, isBigEndian: isBigEndian))
            guard length >= 12, length % 4 == 0 else { throw damaged(stream, "a block claims \(length) bytes") }
            switch type {
            case Self.interfaceDescription, Self.enhancedPacket, Self.simplePacket, Self.obsoletePacket:
                guard length <= Self.largestBlock else { throw damaged(stream, "a block claims \(length) bytes") }
                try stream.fillRest(length, of: "a block")
                guard stream.number32(at: length - 4, isBigEndian: isBigEndian) == UInt32(length) else {
                    throw damaged(stream, "a block's two lengths differ")
                }
                if type == Self.interfaceDescription {
                    try describeInterface(stream, length: length, &interpreter)
                    stream.consume(length)
                } else {
                    let record = try packet(stream, type: type, length: length, &interpreter, &batch)
                    stream.consume(length)
                    if let record { return record }
                }
            default:
                let offset = stream.offset
                guard stream.skip(length) else {
                    if let failure = stream.failure { throw failure }
                    throw CaptureError(
                        .truncated, "the file ends inside a block; everything before it was read", offset: offset)
                }
            }
        }
        if !hasReadable, let unreadable { throw PcapReader.unsupported(unreadable, offset: 0) }
        return nil
    }

    private func damaged(_ stream: borrowing ByteStream, _ what: String) -> CaptureError {
        CaptureError(.damaged, "\(what), which is not valid; everything before it was read", offset: stream.offset)
    }

    private mutating func startSection(_ stream: borrowing ByteStream) throws(CaptureError) {
        if stream.number32(at: 8, isBigEndian: true) == Self.byteOrderMagic {
            isBigEndian = true
        } else if stream.number32(at: 8, isBigEndian: false) == Self.byteOrderMagic {
            isBigEndian = false
        } else {
            throw damaged(stream, "a section does not specify its byte order")
        }
        interfaces.removeAll()
    }

    private mutating func describeInterface(
        _ stream: borrowing ByteStream, length: Int, _ interpreter: inout PacketInterpreter
    ) throws(CaptureError) {
        guard length >= 20 else { throw damaged(stream, "an interface description has \(length) bytes") }
        // No tool writes more interfaces than sixteen bits can number.
        guard interfaces.count < 1 << 16 else { throw damaged(stream, "a section has 65 537 interfaces") }
        let number = stream.number16(at: 8, isBigEndian: isBigEndian)
        var interface = Interface(link: LinkType(pcap: number), key: UInt32(interfaces.count))
        if interface.link == nil { unreadable = number } else { hasReadable = true }
        var name: String?
        var place = 16
        while place + 4 <= length - 4 {
            let code = stream.number16(at: place, isBigEndian: isBigEndian)
            let count = Int(stream.number16(at: place + 2, isBigEndian: isBigEndian))
            let value = place + 4
            guard code != 0, value + count <= length - 4 else { break }
            switch code {
            case 2:  // if_name
                let bytes = stream.buffer[(stream.start + value)..<(stream.start + value + count)]
                name = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            case 9 where count == 1:  // if_tsresol
                let resolution = stream.buffer[stream.start + value]
                interface.resolution = resolution & 0x80 == 0 ? .decimal(resolution) : .binary(resolution & 0x7F)
            case 14 where count == 8:  // if_tsoffset
                interface.offsetSeconds = Int64(
                    bitPattern: stream.number64(at: value, isBigEndian: isBigEndian))
            default: break
            }
            place = value + (count + 3) / 4 * 4
        }
        if let name, !name.isEmpty, interface.link != nil { interpreter.receivers.name(interface.key, name) }
        interfaces.append(interface)
    }

    /// Reads a packet block.
    ///
    /// - Returns: nil if its packets are not Bluetooth; they are ignored and not counted.
    private mutating func packet(
        _ stream: borrowing ByteStream, type: UInt32, length: Int, _ interpreter: inout PacketInterpreter,
        _ batch: inout AdvertBatch
    ) throws -> SourceRecord? {
        let header = type == Self.simplePacket ? 12 : 28
        guard length >= header + 4 else { throw damaged(stream, "a packet block has \(length) bytes") }
        let number =
            switch type {
            case Self.enhancedPacket: Int(stream.number32(at: 8, isBigEndian: isBigEndian))
            case Self.obsoletePacket: Int(stream.number16(at: 8, isBigEndian: isBigEndian))
            default: 0
            }
        guard number < interfaces.count else {
            throw damaged(stream, "a packet names interface \(number), which the section does not describe")
        }
        let interface = interfaces[number]
        let room = length - header - 4
        let count: Int
        var time: Timestamp?
        if type == Self.simplePacket {
            count = min(Int(stream.number32(at: 8, isBigEndian: isBigEndian)), room)
        } else {
            count = Int(stream.number32(at: 20, isBigEndian: isBigEndian))
            guard count <= room else { throw damaged(stream, "a packet claims more bytes than its block has") }
            let high = UInt64(stream.number32(at: 12, isBigEndian: isBigEndian))
            let low = UInt64(stream.number32(at: 16, isBigEndian: isBigEndian))
            time = Self.time(high << 32 | low, interface)
        }
        guard let link = interface.link else { return nil }
        let start = stream.start + header
        interpreter.interpret(
            PacketInterpreter.Packet(time: time, link: link, receiverKey: interface.key),
            bytes: stream.buffer.span.bytes.extracting(start..<start + count),
            into: &batch)
        return SourceRecord(time: time)
    }

    private static func time(_ units: UInt64, _ interface: Interface) -> Timestamp {
        let billion = UInt128(Timestamp.nanosecondsPerSecond)
        let nanoseconds: UInt128
        switch interface.resolution {
        case .binary(let power):
            nanoseconds = (UInt128(units) * billion) >> UInt128(power)
        case .decimal(let power):
            // From 10^-29 on, every time in 64 bits is less than a nanosecond.
            let divisor = (0..<min(power, 29)).reduce(into: UInt128(1)) { product, _ in product *= 10 }
            nanoseconds = UInt128(units) * billion / divisor
        }
        let sinceOrigin = Timestamp(nanoseconds: Int64(clamping: nanoseconds))
        let offset = interface.offsetSeconds.multipliedReportingOverflow(by: Timestamp.nanosecondsPerSecond)
        return sinceOrigin.advanced(
            by: offset.overflow ? (interface.offsetSeconds < 0 ? Int64.min : Int64.max) : offset.partialValue)
    }
}
