import BeaconCapture
import BeaconRadio
import Testing

/// A small file of one format with the adverts of ``Advert/samples``, one per record.
struct SampleFile: Sendable, CustomTestStringConvertible {
    var name: String
    var format: CaptureFormat
    var bytes: [UInt8] = []
    /// The offsets at which the file may end without truncation, with the number of complete records up to each.
    var borders: [Int: Int] = [:]
    var hasTimes = true
    var hasSignal = true
    /// The name of the receiver of the adverts.
    var receiver = "hci0"

    var testDescription: String { name }

    /// Returns the number of complete records in the first `count` bytes.
    func records(in count: Int) -> Int { borders.filter { $0.key <= count }.map(\.value).max() ?? 0 }

    private mutating func append(_ more: [UInt8]) { bytes += more }

    /// Marks the current end as a valid end of the file.
    private mutating func border(_ records: Int) { borders[bytes.count] = records }

    // MARK: - Formats

    static func btsnoop(datalink: UInt32) -> SampleFile {
        var file = SampleFile(name: "btsnoop \(datalink)", format: .btsnoop)
        file.append(Btsnoop.header(datalink: datalink))
        file.border(0)
        var records = 0
        if datalink == 2001 {
            let name = Array("room1\0\0\0".utf8)
            file.append(Btsnoop.record(flags: 0, microseconds: 0, join([0, 0, 6, 5, 4, 3, 2, 1], name)))
            file.receiver = "room1"
            records += 1
            file.border(records)
        }
        for advert in Advert.samples {
            let packet = datalink == 1002 ? join([4], advert.event) : advert.event
            file.append(Btsnoop.record(flags: 3, microseconds: advert.microseconds, packet))
            records += 1
            file.border(records)
        }
        return file
    }

    static func pcap(linkType: UInt16, isBigEndian: Bool = false, isNanoseconds: Bool = false) -> SampleFile {
        var file = SampleFile(
            name: "pcap \(linkType) \(isBigEndian ? "big" : "little") \(isNanoseconds ? "nano" : "micro")",
            format: .pcap)
        let pcap = Pcap(isBigEndian: isBigEndian, isNanoseconds: isNanoseconds)
        file.append(pcap.header(linkType: UInt32(linkType)))
        file.border(0)
        for (index, advert) in Advert.samples.enumerated() {
            file.append(pcap.record(microseconds: advert.microseconds, advert.packet(linkType: linkType)))
            file.border(index + 1)
        }
        file.hasSignal = linkType != 251
        if [251, 256, 272].contains(linkType) { file.receiver = "sniffer0" }
        return file
    }

    static func pcapng(linkType: UInt16, isBigEndian: Bool = false) -> SampleFile {
        var file = SampleFile(name: "pcapng \(linkType) \(isBigEndian ? "big" : "little")", format: .pcapng)
        let pcapng = Pcapng(isBigEndian: isBigEndian)
        for block in [
            pcapng.section(), pcapng.interface(linkType: linkType, options: [(2, Array("room1".utf8))]),
            pcapng.block(0xBAD, [1, 2, 3, 4, 5, 6, 7]),
        ] {
            file.append(block)
            file.border(0)
        }
        for (index, advert) in Advert.samples.enumerated() {
            file.append(
                pcapng.packet(units: UInt64(advert.microseconds), advert.packet(linkType: linkType)))
            file.border(index + 1)
        }
        file.receiver = "room1"
        return file
    }

    static func packetLogger(isBigEndian: Bool) -> SampleFile {
        var file = SampleFile(name: "PacketLogger \(isBigEndian ? "big" : "little")", format: .packetLogger)
        for (index, advert) in Advert.samples.enumerated() {
            file.append(
                PacketLogger.record(
                    microseconds: advert.microseconds, type: 1, advert.event, isBigEndian: isBigEndian))
            file.border(index + 1)
        }
        return file
    }

    static func hcidump(hasTimes: Bool, hasHeader: Bool = false, lineEnd: String = "\n") -> SampleFile {
        var file = SampleFile(
            name: "hcidump \(hasTimes ? "-t" : "") \(hasHeader ? "header" : "") \(lineEnd == "\n" ? "" : "CRLF")",
            format: .hcidump)
        file.hasTimes = hasTimes
        if hasHeader {
            for line in ["HCI sniffer - Bluetooth packet analyzer ver 5.28", "device: hci0 snap_len: 1500"] {
                for character in (line + lineEnd).utf8 {
                    file.append([character])
                    // The header is optional once its beginning can be recognized.
                    if file.bytes.count >= "HCI sniffer".utf8.count { file.border(0) }
                }
            }
        }
        for (index, advert) in Advert.samples.enumerated() {
            let date = hasTimes ? Hcidump.date(microseconds: advert.microseconds) + " " : ""
            file.append(Array((date + Hcidump.packet(join([4], advert.event), lineEnd: lineEnd)).utf8))
            // The characters after the last digit may be missing.
            let behind = file.bytes.reversed().prefix { $0 <= 0x20 }.count
            for missing in 0...behind { file.borders[file.bytes.count - missing] = index + 1 }
        }
        return file
    }

    static func sightingLog(lineEnd: String = "\n") -> SampleFile {
        var file = SampleFile(name: "sighting log \(lineEnd == "\n" ? "" : "CRLF")", format: .sightingLog)
        for (index, advert) in Advert.samples.enumerated() {
            file.append(Array(advert.line.utf8))
            file.border(index + 1)
            for character in (lineEnd + lineEnd).utf8 {
                file.append([character])
                file.border(index + 1)
            }
        }
        return file
    }

    /// A file of each kind.
    static let all: [SampleFile] =
        [1001, 1002, 2001].map { btsnoop(datalink: $0) }
        + [187, 201, 251, 254, 256, 272].map { pcap(linkType: $0) }
        + [(true, false), (true, true), (false, true)].map {
            pcap(linkType: 187, isBigEndian: $0.0, isNanoseconds: $0.1)
        }
        + [187, 256, 272].map { pcapng(linkType: $0) }
        + [
            pcapng(linkType: 187, isBigEndian: true), packetLogger(isBigEndian: true), packetLogger(isBigEndian: false),
            hcidump(hasTimes: false), hcidump(hasTimes: true), hcidump(hasTimes: false, hasHeader: true),
            hcidump(hasTimes: true, lineEnd: "\r\n"), sightingLog(), sightingLog(lineEnd: "\r\n"),
        ]
}
