extension HCICommand {
    /// How to scan (Core Specification 5.3, Vol 4, Part E, 7.8.10 and 7.8.64): any advertiser, on the 1M PHY, which is what
    /// beacons send by.
    static func setScanParameters(_ scan: ScanParameters, isExtended: Bool) -> HCICommand {
        let type: UInt8 = scan.isActive ? 1 : 0
        let times = [
            UInt8(truncatingIfNeeded: scan.interval), UInt8(scan.interval >> 8),
            UInt8(truncatingIfNeeded: scan.window), UInt8(scan.window >> 8),
        ]
        // The own address matters to scan requests only, which a passive scan never sends; an active one is somebody else's,
        // who has set a random address.
        let ownAddress = type
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
