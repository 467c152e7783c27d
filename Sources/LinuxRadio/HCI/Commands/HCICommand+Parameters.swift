import BeaconModel

extension HCICommand {
    /// Returns the commands that make a controller send its events, as the kernel set it up when it was switched on. A
    /// controller that was reset without the kernel's knowledge sends no LE events (Core Specification 5.3, Vol 4, Part
    /// E, 7.3.1 and 7.8.1).
    ///
    /// The kernel's masks cannot be read, so these include every event that it may have enabled: every event of the
    /// specification, as on Android (0x3DBFFFFFFFFFFFFF), and the LE events that the kernel supports (hci_event.c), of
    /// Bluetooth 4.2 or of all versions. The kernel ignores events that it does not wait for.
    static func setEventMasks(isExtended: Bool) -> [HCICommand] {
        func bytes(_ mask: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: mask >> ($0 * 8)) } }
        return [
            HCICommand(.setEventMask, bytes(0x3DBF_FFFF_FFFF_FFFF)),
            HCICommand(.setLEEventMask, bytes(isExtended ? 0x3_FFFF_FFFF : 0x7FF)),
        ]
    }

    /// Returns a command that sets scan parameters (Core Specification 5.3, Vol 4, Part E, 7.8.10 and 7.8.64): any
    /// advertiser, on the 1M PHY, which beacons use.
    static func setScanParameters(_ scan: ScanParameters, isExtended: Bool) -> HCICommand {
        let type: UInt8 = scan.isActive ? 1 : 0
        let times = [
            UInt8(truncatingIfNeeded: scan.interval), UInt8(scan.interval >> 8),
            UInt8(truncatingIfNeeded: scan.window), UInt8(scan.window >> 8),
        ]
        // The own address matters only for scan requests, which a passive scan never sends.
        let ownAddress: UInt8 = scan.isRandom ? 1 : 0
        return isExtended
            // Own address, filter policy, PHYs, then type and times of each PHY.
            ? HCICommand(.setExtendedScanParameters, [ownAddress, 0, 1, type] + times)
            : HCICommand(.setScanParameters, [type] + times + [ownAddress, 0])
    }

    /// Begins or ends the scan; reports every advert, or each advertiser once (7.8.11 and 7.8.65).
    static func setScanEnable(_ isOn: Bool, filtersDuplicates: Bool = false, isExtended: Bool) -> HCICommand {
        let flags: [UInt8] = [isOn ? 1 : 0, filtersDuplicates ? 1 : 0]
        return isExtended
            // No duration and no period: the scan runs until a command ends it.
            ? HCICommand(.setExtendedScanEnable, flags + [0, 0, 0, 0])
            : HCICommand(.setScanEnable, flags)
    }
}

extension HCICommand {
    /// 100 ms in units of 0.625 ms, the interval that beacon makers specify for iBeacon. Controllers before 5.0 allow
    /// no shorter one for adverts that are not connectable (Core Specification 4.2, Vol 2, Part E, 7.8.5).
    private static let interval: UInt16 = 0xA0

    /// All three channels.
    private static let channels: UInt8 = 0x07

    /// The own address is a random one.
    private static let randomAddress: UInt8 = 0x01

    private static func bytes(of address: DeviceAddress) -> [UInt8] {
        (0..<6).map { UInt8(truncatingIfNeeded: address.bits >> UInt64($0 * 8)) }
    }

    /// Sets the random address of legacy adverts and active scans (Core Specification 5.3, Vol 4, Part E, 7.8.4).
    static func setRandomAddress(_ address: DeviceAddress) -> HCICommand {
        HCICommand(.setRandomAddress, bytes(of: address))
    }

    /// Sets the parameters of legacy adverts: ADV_SCAN_IND if there is a scan response, otherwise ADV_NONCONN_IND
    /// (7.8.5).
    static func setAdvertisingParameters(isScannable: Bool = false) -> HCICommand {
        let low = UInt8(truncatingIfNeeded: interval)
        let high = UInt8(interval >> 8)
        return HCICommand(
            .setAdvertisingParameters,
            [low, high, low, high, isScannable ? 0x02 : 0x03, randomAddress, 0, 0, 0, 0, 0, 0, 0, channels, 0])
    }

    /// Sets the data of legacy adverts (7.8.7). The field always has 31 bytes.
    static func setAdvertisingData(_ advert: [UInt8]) -> HCICommand {
        HCICommand(.setAdvertisingData, padded(advert))
    }

    /// Sets the data of legacy scan responses (7.8.8).
    static func setScanResponseData(_ response: [UInt8]) -> HCICommand {
        HCICommand(.setScanResponseData, padded(response))
    }

    private static func padded(_ structures: [UInt8]) -> [UInt8] {
        let data = Array(structures.prefix(31))
        return [UInt8(data.count)] + data + [UInt8](repeating: 0, count: 31 - data.count)
    }

    /// Begins or ends legacy adverts (7.8.9).
    static func setAdvertisingEnable(_ isOn: Bool) -> HCICommand {
        HCICommand(.setAdvertisingEnable, [isOn ? 1 : 0])
    }

    /// Sets a set's parameters: legacy PDUs, which every receiver supports; not connectable; scannable if there is a
    /// scan response; no time limit; on the 1M PHY; with the controller's preferred power (7.8.53).
    static func setExtendedAdvertisingParameters(set: UInt8, isScannable: Bool = false) -> HCICommand {
        let times = [UInt8(truncatingIfNeeded: interval), UInt8(interval >> 8), 0]
        return HCICommand(
            .setExtendedAdvertisingParameters,
            [set, isScannable ? 0x12 : 0x10, 0x00] + times + times
                + [channels, randomAddress, 0, 0, 0, 0, 0, 0, 0, 0, 0x7F, 0x01, 0, 0x01, set & 0x0F, 0])
    }

    /// Sets the random address of a set (7.8.52).
    static func setAdvertisingSetAddress(_ address: DeviceAddress, set: UInt8) -> HCICommand {
        HCICommand(.setAdvertisingSetAddress, [set] + bytes(of: address))
    }

    /// Sets a set's data, complete, with fragmentation disallowed (7.8.54).
    static func setExtendedAdvertisingData(_ advert: [UInt8], set: UInt8) -> HCICommand {
        HCICommand(.setExtendedAdvertisingData, [set, 0x03, 0x01, UInt8(advert.count)] + advert)
    }

    /// Sets a set's scan response, complete, with fragmentation disallowed (7.8.55).
    static func setExtendedScanResponseData(_ response: [UInt8], set: UInt8) -> HCICommand {
        HCICommand(.setExtendedScanResponseData, [set, 0x03, 0x01, UInt8(response.count)] + response)
    }

    /// Begins or ends the adverts of one set, without a time limit (7.8.56).
    static func setExtendedAdvertisingEnable(_ isOn: Bool, set: UInt8) -> HCICommand {
        HCICommand(.setExtendedAdvertisingEnable, [isOn ? 1 : 0, 1, set, 0, 0, 0])
    }

    /// Removes a set (7.8.59).
    static func removeAdvertisingSet(_ set: UInt8) -> HCICommand { HCICommand(.removeAdvertisingSet, [set]) }
}

extension HCICommand {
    /// For a command that enables or disables something: true if it enables.
    var isEnabling: Bool { parameters.first == 1 }

    /// For a command that begins a scan: true if each advertiser is reported once.
    var filtersDuplicates: Bool { parameters.count > 1 && parameters[1] != 0 }

    /// For a command that sets scan parameters: the parameters, of the first PHY if there are several.
    var scanParameters: ScanParameters? {
        let start: Int
        switch opcode {
        case .setScanParameters: start = 0
        case .setExtendedScanParameters: start = 3
        default: return nil
        }
        guard parameters.count >= start + 5 else { return nil }
        func number(_ offset: Int) -> UInt16 {
            UInt16(parameters[start + offset]) | UInt16(parameters[start + offset + 1]) << 8
        }
        let isActive = parameters[start] != 0
        let ownAddress = start > 0 ? parameters[0] : parameters.count > 5 ? parameters[5] : 0
        return ScanParameters(
            isActive: isActive, isRandom: isActive && ownAddress & 1 == 1, interval: number(1), window: number(3))
    }

    /// For a command about advertising sets: their numbers, or empty for all sets.
    var advertisingSets: [UInt8] {
        switch opcode {
        case .setExtendedAdvertisingEnable:
            // Each set has four bytes: its handle, a duration and a number of events.
            let count = parameters.count > 1 ? Int(parameters[1]) : 0
            return stride(from: 2, to: parameters.count, by: 4).prefix(count).map { parameters[$0] }
        default: return parameters.first.map { [$0] } ?? []
        }
    }
}
