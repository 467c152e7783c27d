internal import BeaconModel
internal import BeaconRadio

/// A device that a scan has heard, with its newest advert and its newest scan response.
struct DiscoveredDevice {
    private var advert = AdvertContents()
    private var scanResponse = AdvertContents()
    private var isConnectable: Bool?

    /// The keys that were reported to the app; nil before the first report.
    var reported: Set<String>?

    /// The time at which it was last heard.
    var heard = Timestamp.zero

    /// Processes a packet.
    ///
    /// - Parameter hidesBeacons: true to ignore an iBeacon's manufacturer data.
    mutating func hear(_ packet: HeardAdvert, hidesBeacons: Bool) {
        var contents = AdvertContents(advert: packet.bytes.span.bytes)
        if hidesBeacons, IBeaconFrame(advert: packet.bytes.span.bytes) != nil { contents.manufacturerData = nil }
        heard = packet.reception.time ?? heard
        switch packet.reception.report.kind {
        case .scanResponse: return scanResponse = contents
        case .connectable, .directed: isConnectable = true
        case .scannable, .nonConnectable: isConnectable = false
        // Such a report does not specify it.
        case .extended: break
        }
        advert = contents
    }

    /// The combined content of its adverts and scan responses.
    var contents: AdvertContents { advert.merging(scanResponse) }

    /// The dictionary for the app.
    var advertisementData: [String: Any] {
        let contents = contents
        var data: [String: Any] = [:]
        data[CBAdvertisementDataLocalNameKey] = contents.localName
        data[CBAdvertisementDataManufacturerDataKey] = contents.manufacturerData.map { Data($0) }
        data[CBAdvertisementDataTxPowerLevelKey] = contents.transmitPower.map { NSNumber(value: $0) }
        data[CBAdvertisementDataIsConnectable] = isConnectable.map { NSNumber(value: $0) }
        if !contents.services.isEmpty {
            data[CBAdvertisementDataServiceUUIDsKey] = contents.services.map { CBUUID($0) }
        }
        if !contents.solicitedServices.isEmpty {
            data[CBAdvertisementDataSolicitedServiceUUIDsKey] = contents.solicitedServices.map { CBUUID($0) }
        }
        if !contents.serviceData.isEmpty {
            data[CBAdvertisementDataServiceDataKey] = [CBUUID: Data](
                uniqueKeysWithValues: contents.serviceData.map { (CBUUID($0), Data($1)) })
        }
        return data
    }
}

extension DeviceAddress {
    // UUID version 8, whose bits are vendor-specific (RFC 9562, 5.8).
    private static let identifierHigh: UInt64 = 0x7377_6966_7462_8001
    private static let identifierLow: UInt64 = 0x8000_0000_0000_0000

    /// The device's identifier for apps: the same for an address on every machine and in every launch. Its last twelve
    /// digits are the address, and the four digits before them are the address's kind.
    var identifier: UUID {
        let low = Self.identifierLow | UInt64(kind.rawValue) << 48 | bits
        var bytes = [UInt8](repeating: 0, count: 16)
        for (index, byte) in bytes.indices.enumerated() {
            let word = index < 8 ? Self.identifierHigh : low
            bytes[byte] = UInt8(truncatingIfNeeded: word >> UInt64((7 - index % 8) * 8))
        }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    /// Decodes the address in an identifier; nil if it is not a device's identifier.
    init?(identifier: UUID) {
        let words = withUnsafeBytes(of: identifier.uuid) { bytes in
            [0, 8].map { start in bytes[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        }
        guard words[0] == Self.identifierHigh, words[1] >> 56 == 0x80,
            let kind = DeviceAddress.Kind(rawValue: UInt8(truncatingIfNeeded: words[1] >> 48))
        else { return nil }
        self.init(bits: words[1], kind: kind)
    }
}
