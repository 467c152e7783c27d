import BeaconModel
import BeaconRadio

/// A finder and counter of the adverts in captured packets of any framing.
struct PacketInterpreter {
    private(set) var counts = SourceCounts()
    var receivers = ReceiverNames()
    private var assembler = ExtendedAdvertAssembler()

    /// A packet of a file's record.
    struct Packet {
        var time: Timestamp?
        var link: LinkType
        /// The file's number of the receiver: an interface, or 0.
        var receiverKey: UInt32
        /// The controller's number and the kind of packet, if the record has them.
        var recordType: UInt32 = 0
    }

    /// Counts a record without relevant content.
    mutating func countPacket() { counts.packets += 1 }

    /// Counts a record that is a decoded iBeacon.
    mutating func countAdvert() {
        counts.packets += 1
        counts.reports += 1
    }

    /// Adds the adverts in `bytes` to `batch`. Invalid bytes hold no adverts.
    mutating func interpret(
        _ packet: Packet,
        bytes: RawSpan,
        into batch: inout AdvertBatch
    ) {
        counts.packets += 1
        switch packet.link {
        case .hciH4:
            interpretH4(packet, bytes: bytes, from: 0, into: &batch)
        case .hciH4WithDirection:
            interpretH4(packet, bytes: bytes, from: 4, into: &batch)
        case .hciTypedByRecord:
            // Flags: 1 for received, 2 for command or event.
            guard packet.recordType & 3 == 3 else { return }
            interpretEvent(packet, controller: 0, event: bytes, into: &batch)
        case .linuxMonitor:
            guard bytes.byteCount >= 4 else { return }
            let controller = UInt16(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt16.self))
            let kind = UInt16(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 2, as: UInt16.self))
            interpretMonitor(
                packet, controller: controller, kind: kind, bytes: bytes.extracting(4..<bytes.byteCount),
                into: &batch)
        case .linuxMonitorTypedByRecord:
            interpretMonitor(
                packet,
                controller: UInt16(truncatingIfNeeded: packet.recordType >> 16),
                kind: UInt16(truncatingIfNeeded: packet.recordType),
                bytes: bytes,
                into: &batch)
        case .linkLayer:
            let integrity = LinkLayerAdvertisement.integrity(of: bytes)
            interpretLinkLayer(
                packet, bytes: bytes, isCoded: false, rssi: .unavailable, isMarkedBad: integrity == .damaged,
                into: &batch)
        case .linkLayerWithHeader:
            interpretLinkLayerWithHeader(packet, bytes: bytes, into: &batch)
        case .nordicSniffer:
            interpretNordic(packet, bytes: bytes, into: &batch)
        }
    }

    // MARK: - HCI

    private static let h4Event: UInt8 = 0x04

    private mutating func interpretH4(
        _ packet: Packet, bytes: RawSpan, from offset: Int, into batch: inout AdvertBatch
    ) {
        guard bytes.byteCount > offset,
            bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) == Self.h4Event
        else { return }
        let event = bytes.extracting(offset + 1..<bytes.byteCount)
        interpretEvent(packet, controller: packet.receiverKey, event: event, into: &batch)
    }

    private mutating func interpretMonitor(
        _ packet: Packet, controller: UInt16, kind: UInt16, bytes: RawSpan,
        into batch: inout AdvertBatch
    ) {
        switch kind {
        case LinuxMonitor.newIndex:
            let name = bytes.byteCount >= 16 ? Self.text(in: bytes.extracting(8..<16)) : ""
            receivers.name(UInt32(controller), name.isEmpty ? "hci\(controller)" : name)
        case LinuxMonitor.event where controller != LinuxMonitor.noController:
            interpretEvent(packet, controller: UInt32(controller), event: bytes, into: &batch)
        default: break
        }
    }

    private mutating func interpretEvent(
        _ packet: Packet, controller: UInt32, event: RawSpan, into batch: inout AdvertBatch
    ) {
        var cursor = HCIAdvertisingReportCursor(event: event)
        while let found = cursor.next(in: event) {
            counts.reports += 1
            let receiver = receivers.receiver(controller, name: "hci\(controller)")
            let reception = Reception(time: packet.time, receiver: receiver, report: found.report)
            if found.report.kind == .extended {
                assembler.add(found, of: event, from: receiver) { batch.hear(reception, $0) }
            } else {
                batch.hear(reception, event.extracting(found.offset..<found.offset + found.count))
            }
        }
    }

    /// Returns the characters of a field up to its first zero.
    private static func text(in field: RawSpan) -> String {
        field.withUnsafeBytes { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    // MARK: - Sniffers

    /// Reads LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR: channel, signal, noise, access address offences, reference access
    /// address (4), flags (2), packet (tcpdump.org, LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR).
    private mutating func interpretLinkLayerWithHeader(
        _ packet: Packet, bytes: RawSpan, into batch: inout AdvertBatch
    ) {
        let header = 10
        guard bytes.byteCount > header else { return }
        let flags = UInt16(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt16.self))
        let isDewhitened = flags & 0x0001 != 0
        let hasSignal = flags & 0x0002 != 0
        let isChecked = flags & 0x0400 != 0
        let isValid = flags & 0x0800 != 0
        guard isDewhitened else { return }
        let signal = bytes.unsafeLoad(fromByteOffset: 1, as: Int8.self)
        interpretLinkLayer(
            packet,
            bytes: bytes.extracting(header..<bytes.byteCount),
            isCoded: flags >> 14 == 2,
            rssi: hasSignal ? SignalStrength(rawValue: signal) : .unavailable,
            isMarkedBad: isChecked && !isValid,
            into: &batch)
    }

    /// Reads Nordic's header, seventeen bytes in each version of the protocol: flags at 8, signal at 10 as a positive
    /// number (Nordic, "nRF Sniffer packet format"; tcpdump.org, LINKTYPE_NORDIC_BLE).
    private mutating func interpretNordic(
        _ packet: Packet, bytes: RawSpan, into batch: inout AdvertBatch
    ) {
        let header = 17
        guard bytes.byteCount > header else { return }
        let flags = bytes.unsafeLoad(fromByteOffset: 8, as: UInt8.self)
        let attenuation = bytes.unsafeLoad(fromByteOffset: 10, as: UInt8.self)
        // Versions before 2 had no PHY and left its bits zero.
        let isCoded = flags >> 4 & 7 == 2
        interpretLinkLayer(
            packet,
            bytes: bytes.extracting(header..<bytes.byteCount),
            isCoded: isCoded,
            rssi: attenuation < 128 ? SignalStrength(rawValue: -Int8(attenuation)) : .unavailable,
            isMarkedBad: flags & 1 == 0,
            into: &batch)
    }

    /// - Parameter isMarkedBad: true if the receiver reports that the CRC does not match. If it reports nothing, the
    ///   CRC is compared here, so that a packet with flipped bits does not look like another beacon. Such a packet is
    ///   not counted as bad, because the sniffer did not check it.
    private mutating func interpretLinkLayer(
        _ packet: Packet, bytes: RawSpan, isCoded: Bool, rssi: SignalStrength, isMarkedBad: Bool,
        into batch: inout AdvertBatch
    ) {
        // Packets of the coded PHY have a byte for their coding after the access address.
        let headerOffset = isCoded ? 5 : 4
        guard let advert = LinkLayerAdvertisement(packet: bytes, headerOffset: headerOffset) else { return }
        counts.reports += 1
        if isMarkedBad { counts.badCRC += 1 }
        let reception = Reception(
            time: packet.time,
            receiver: receivers.receiver(
                packet.receiverKey, name: "\(packet.link.receiverPrefix)\(packet.receiverKey)"),
            report: AdvertisingReport(kind: advert.kind, address: advert.address, rssi: rssi),
            isDamaged: isMarkedBad
                || LinkLayerAdvertisement.integrity(of: bytes, headerOffset: headerOffset) == .damaged)
        batch.hear(reception, bytes.extracting(advert.offset..<advert.offset + advert.count))
    }
}

/// The names of the receivers found in a capture, each with a small number.
struct ReceiverNames {
    /// The names by number.
    private(set) var names: [String] = []

    /// The numbers by the format's key of the receiver: an interface or controller number.
    private var numbers: [UInt32: ReceiverID] = [:]
    private var numbersByName: [String: ReceiverID] = [:]

    /// More than any site has. Beyond it, receivers share the last number.
    private static let most = Int(UInt16.max)

    /// Returns the receiver with a key of the format. A new one gets the name from `name`.
    mutating func receiver(_ key: UInt32, name: @autoclosure () -> String) -> ReceiverID {
        if let known = numbers[key] { return known }
        let new = named(name())
        numbers[key] = new
        return new
    }

    /// Names the receiver with a key of the format, unless it has a name.
    mutating func name(_ key: UInt32, _ name: String) {
        _ = receiver(key, name: name)
    }

    /// Forgets the format's keys, for instance at the start of a new section, but not the names.
    mutating func forgetKeys() { numbers.removeAll() }

    /// Returns the receiver with this name.
    mutating func named(_ name: String) -> ReceiverID {
        if let known = numbersByName[name] { return known }
        guard names.count < Self.most else { return ReceiverID(UInt16(names.count - 1)) }
        let new = ReceiverID(UInt16(names.count))
        names.append(name)
        numbersByName[name] = new
        return new
    }
}
