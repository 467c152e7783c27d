import BeaconModel

extension HCICommand {
    /// The commands that have a controller send its events, as the kernel had it do when it was switched on. One that
    /// was reset behind the kernel's back sends none of LE (Core Specification 5.3, Vol 4, Part E, 7.3.1 and 7.8.1).
    ///
    /// What the kernel chose cannot be read, so it is all that it may have chosen: every event of the specification,
    /// as Android's host has it (0x3DBFFFFFFFFFFFFF), and of LE those that the kernel knows (hci_event.c), of
    /// Bluetooth 4.2 or of all versions. An event that nobody waits for is ignored by the kernel.
    static func setEventMasks(isExtended: Bool) -> [HCICommand] {
        func bytes(_ mask: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: mask >> ($0 * 8)) } }
        return [
            HCICommand(.setEventMask, bytes(0x3DBF_FFFF_FFFF_FFFF)),
            HCICommand(.setLEEventMask, bytes(isExtended ? 0x3_FFFF_FFFF : 0x7FF)),
        ]
    }

    /// A command that sets scan parameters (Core Specification 5.3, Vol 4, Part E, 7.8.10 and 7.8.64): any advertiser,
    /// on the 1M PHY, which is what beacons send by.
    static func setScanParameters(_ scan: ScanParameters, isExtended: Bool) -> HCICommand {
        let type: UInt8 = scan.isActive ? 1 : 0
        let times = [
            UInt8(truncatingIfNeeded: scan.interval), UInt8(scan.interval >> 8),
            UInt8(truncatingIfNeeded: scan.window), UInt8(scan.window >> 8),
        ]
        // The own address matters to scan requests only, which a passive scan never sends.
        let ownAddress: UInt8 = scan.isRandom ? 1 : 0
        return isExtended
            // Own address, filter policy, PHYs, then type and times of each PHY.
            ? HCICommand(.setExtendedScanParameters, [ownAddress, 0, 1, type] + times)
            : HCICommand(.setScanParameters, [type] + times + [ownAddress, 0])
    }

    /// Begins or ends the scan, with every advert reported or each advertiser once (7.8.11 and 7.8.65).
    static func setScanEnable(_ isOn: Bool, filtersDuplicates: Bool = false, isExtended: Bool) -> HCICommand {
        let flags: [UInt8] = [isOn ? 1 : 0, filtersDuplicates ? 1 : 0]
        return isExtended
            // No duration and no period: until it is ended.
            ? HCICommand(.setExtendedScanEnable, flags + [0, 0, 0, 0])
            : HCICommand(.setScanEnable, flags)
    }
}

extension HCICommand {
    /// 100 ms in 0.625 ms, as beacon makers give it for iBeacon. Controllers before 5.0 allow no less for adverts that
    /// cannot be connected to (Core Specification 4.2, Vol 2, Part E, 7.8.5).
    private static let interval: UInt16 = 0xA0

    /// All three channels.
    private static let channels: UInt8 = 0x07

    /// A random address as our own.
    private static let randomAddress: UInt8 = 0x01

    private static func bytes(of address: DeviceAddress) -> [UInt8] {
        (0..<6).map { UInt8(truncatingIfNeeded: address.bits >> UInt64($0 * 8)) }
    }

    /// The random address that legacy adverts and active scans carry (Core Specification 5.3, Vol 4, Part E, 7.8.4).
    static func setRandomAddress(_ address: DeviceAddress) -> HCICommand {
        HCICommand(.setRandomAddress, bytes(of: address))
    }

    /// A command that sets the parameters of legacy adverts: ADV_SCAN_IND where there is a scan response, and else
    /// ADV_NONCONN_IND (7.8.5).
    static func setAdvertisingParameters(isScannable: Bool = false) -> HCICommand {
        let low = UInt8(truncatingIfNeeded: interval)
        let high = UInt8(interval >> 8)
        return HCICommand(
            .setAdvertisingParameters,
            [low, high, low, high, isScannable ? 0x02 : 0x03, randomAddress, 0, 0, 0, 0, 0, 0, 0, channels, 0])
    }

    /// A command that sets the data of legacy adverts (7.8.7). The field has 31 bytes, whatever is in it.
    static func setAdvertisingData(_ advert: [UInt8]) -> HCICommand {
        HCICommand(.setAdvertisingData, padded(advert))
    }

    /// A command that sets the data of legacy scan responses (7.8.8).
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

    /// A command that sets a set's parameters: legacy PDUs, so that every receiver hears them, not connectable,
    /// scannable where there is a scan response, for as long as it lasts, on the 1M PHY, as strong as the controller
    /// likes (7.8.53).
    static func setExtendedAdvertisingParameters(set: UInt8, isScannable: Bool = false) -> HCICommand {
        let times = [UInt8(truncatingIfNeeded: interval), UInt8(interval >> 8), 0]
        return HCICommand(
            .setExtendedAdvertisingParameters,
            [set, isScannable ? 0x12 : 0x10, 0x00] + times + times
                + [channels, randomAddress, 0, 0, 0, 0, 0, 0, 0, 0, 0x7F, 0x01, 0, 0x01, set & 0x0F, 0])
    }

    /// The random address of a set (7.8.52).
    static func setAdvertisingSetAddress(_ address: DeviceAddress, set: UInt8) -> HCICommand {
        HCICommand(.setAdvertisingSetAddress, [set] + bytes(of: address))
    }

    /// A command that sets a set's data, complete, not to be cut in pieces (7.8.54).
    static func setExtendedAdvertisingData(_ advert: [UInt8], set: UInt8) -> HCICommand {
        HCICommand(.setExtendedAdvertisingData, [set, 0x03, 0x01, UInt8(advert.count)] + advert)
    }

    /// A command that sets a set's scan response, complete, not to be cut in pieces (7.8.55).
    static func setExtendedScanResponseData(_ response: [UInt8], set: UInt8) -> HCICommand {
        HCICommand(.setExtendedScanResponseData, [set, 0x03, 0x01, UInt8(response.count)] + response)
    }

    /// Begins or ends the adverts of one set, without end by themselves (7.8.56).
    static func setExtendedAdvertisingEnable(_ isOn: Bool, set: UInt8) -> HCICommand {
        HCICommand(.setExtendedAdvertisingEnable, [isOn ? 1 : 0, 1, set, 0, 0, 0])
    }

    /// Gives a set back (7.8.59).
    static func removeAdvertisingSet(_ set: UInt8) -> HCICommand { HCICommand(.removeAdvertisingSet, [set]) }
}

extension HCICommand {
    /// Of a command that enables something: whether it does, or ends it.
    var isEnabling: Bool { parameters.first == 1 }

    /// Of a command that begins a scan: whether each advertiser is reported once.
    var filtersDuplicates: Bool { parameters.count > 1 && parameters[1] != 0 }

    /// Of a command that sets how to scan: how. Of several PHYs the first.
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

    /// Of a command about advertising sets: those it names, or none where it means all.
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
