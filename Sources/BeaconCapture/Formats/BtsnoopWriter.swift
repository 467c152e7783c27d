import BeaconModel
public import BeaconRadio

/// A writer of adverts as a btsnoop file of Linux's monitor channel (datalink 2001), which `btmon -r`, Wireshark and
/// ``CaptureReader`` read.
///
/// The monitor channel names the controller that heard an advert. Each receiver becomes a controller, with the first
/// eight bytes of its name, the maximum of the format.
public struct BtsnoopWriter: Sendable {
    /// The number of receivers whose names have been written.
    private var introduced = 0

    /// Creates a writer for an empty file.
    public init() {}

    /// Appends the file's header.
    public func appendHeader(to buffer: inout [UInt8]) {
        buffer.append(contentsOf: BtsnoopReader.magic)
        buffer.append(bigEndian: UInt32(1))
        buffer.append(bigEndian: UInt32(2001))
    }

    /// Appends an advert as an HCI event. If its receiver is new, the receiver's name comes first.
    ///
    /// - Parameters:
    ///   - reception: the kind, address, signal and time; if the time is nil, 1970 is written.
    ///   - advert: the AD structures. Legacy reports hold up to 31 bytes; longer adverts become extended reports.
    ///   - receivers: the names of the source's receivers.
    ///   - buffer: the bytes to append to.
    public mutating func append(
        _ reception: Reception, advert: RawSpan, receivers: [String], to buffer: inout [UInt8]
    ) {
        let time = reception.time ?? .zero
        while introduced <= Int(reception.receiver.index) {
            introduce(introduced, name: introduced < receivers.count ? receivers[introduced] : "", time, &buffer)
            introduced += 1
        }
        let controller = UInt32(reception.receiver.index) << 16
        if advert.byteCount <= 31, reception.report.kind != .extended {
            appendLegacy(reception.report, advert, controller, time, &buffer)
            return
        }
        var offset = 0
        repeat {
            let end = min(offset + Self.largestPiece, advert.byteCount)
            let piece = advert.extracting(offset..<end)
            appendExtended(reception.report, piece, isLast: end == advert.byteCount, controller, time, &buffer)
            offset = end
        } while offset < advert.byteCount
    }

    /// An event's parameters have at most 255 bytes, and an extended report needs 26 for its header.
    private static let largestPiece = 229

    /// Appends a legacy advertising report (Core Specification, Vol 4, Part E, 7.7.65.2).
    private func appendLegacy(
        _ report: AdvertisingReport, _ advert: RawSpan, _ controller: UInt32, _ time: Timestamp,
        _ buffer: inout [UInt8]
    ) {
        let count = advert.byteCount
        appendRecordHeader(count: count + 14, controller | UInt32(LinuxMonitor.event), time, &buffer)
        buffer.append(HCIAdvertisingReportCursor.leMetaEvent)
        buffer.append(UInt8(count + 12))
        buffer.append(contentsOf: [0x02, 1, report.kind.rawValue])
        appendAddress(report.address, &buffer)
        buffer.append(UInt8(count))
        advert.withUnsafeBytes { buffer.append(contentsOf: $0) }
        buffer.append(UInt8(bitPattern: report.rssi.rawValue))
    }

    /// Appends an extended advertising report (Core Specification, Vol 4, Part E, 7.7.65.13).
    private func appendExtended(
        _ report: AdvertisingReport, _ piece: RawSpan, isLast: Bool, _ controller: UInt32, _ time: Timestamp,
        _ buffer: inout [UInt8]
    ) {
        let count = piece.byteCount
        appendRecordHeader(count: count + 28, controller | UInt32(LinuxMonitor.event), time, &buffer)
        buffer.append(HCIAdvertisingReportCursor.leMetaEvent)
        buffer.append(UInt8(count + 26))
        buffer.append(contentsOf: [0x0D, 1, isLast ? 0x00 : 0x20, 0x00])
        appendAddress(report.address, &buffer)
        // Sent on LE 1M, no second channel, no set, transmit power unknown.
        buffer.append(contentsOf: [1, 0, 0xFF, 127, UInt8(bitPattern: report.rssi.rawValue)])
        // No periodic advertising, no direct address.
        buffer.append(contentsOf: [0, 0, 0, 0, 0, 0, 0, 0, 0])
        buffer.append(UInt8(count))
        piece.withUnsafeBytes { buffer.append(contentsOf: $0) }
    }

    private func introduce(_ index: Int, name: String, _ time: Timestamp, _ buffer: inout [UInt8]) {
        appendRecordHeader(count: 16, UInt32(index) << 16 | UInt32(LinuxMonitor.newIndex), time, &buffer)
        // Primary controller, virtual bus, a unique address.
        buffer.append(contentsOf: [0, 0, UInt8(truncatingIfNeeded: index), 0, 0, 0, 0xBE, 0x02])
        let short = Array(name.utf8.prefix(8))
        buffer.append(contentsOf: short)
        buffer.append(contentsOf: repeatElement(0, count: 8 - short.count))
    }

    private func appendRecordHeader(count: Int, _ flags: UInt32, _ time: Timestamp, _ buffer: inout [UInt8]) {
        buffer.append(bigEndian: UInt32(count))
        buffer.append(bigEndian: UInt32(count))
        buffer.append(bigEndian: flags)
        buffer.append(bigEndian: UInt32(0))
        buffer.append(bigEndian: UInt64(bitPattern: time.nanoseconds / 1000 + BtsnoopReader.epoch))
    }

    /// Appends the kind and bytes of an address; an unspecified kind is written as public.
    private func appendAddress(_ address: DeviceAddress, _ buffer: inout [UInt8]) {
        buffer.append(address.kind == .unspecified ? DeviceAddress.Kind.public.rawValue : address.kind.rawValue)
        for shift in 0..<6 { buffer.append(UInt8(truncatingIfNeeded: address.bits >> UInt64(8 * shift))) }
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}
