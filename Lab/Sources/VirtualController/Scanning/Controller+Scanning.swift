import BeaconModel

extension Controller {
    private static let legacyReport: UInt8 = 0x02
    private static let extendedReport: UInt8 = 0x0D
    private static let scanTimeout: UInt8 = 0x11

    /// The capacity of an extended report for an advert: 255 bytes of parameters minus those before the advert.
    private static let pieceCapacity = 229

    /// True if it scans.
    public var isScanning: Bool { state.scanner.isEnabled }

    /// True if it scans and sends scan requests.
    public var isScanningActively: Bool { isScanning && state.scanner.isActive }

    /// True if it scans with the duplicate filter.
    public var isFilteringDuplicates: Bool { isScanning && state.scanner.filter != nil }

    /// Carries out the scan commands, legacy and extended (Core Specification 5.3, Vol 4, Part E, 7.8.10, 7.8.11,
    /// 7.8.64 and 7.8.65).
    ///
    /// - Returns: nil for any other command.
    mutating func scan(
        _ opcode: Opcode, _ parameters: inout ParameterReader, at time: Int64
    ) throws(Status) -> [UInt8]? {
        switch opcode {
        case .setScanParameters:
            let isActive = try parameters.flag()
            try checkTiming(&parameters)
            try setScan(ownAddress: try parameters.byte(), policy: try parameters.byte(), isActive: isActive)
        case .setExtendedScanParameters:
            let ownAddress = try parameters.byte()
            let policy = try parameters.byte()
            // A block of parameters for each PHY, the uncoded one (bit 0) first.
            let physicalLayers = try parameters.byte()
            guard physicalLayers != 0, physicalLayers & ~0b101 == 0 else { throw .invalidParameters }
            var isActive = false
            for layer in [1, 4] as [UInt8] where physicalLayers & layer != 0 {
                isActive = try parameters.flag() || isActive
                try checkTiming(&parameters)
            }
            try setScan(ownAddress: ownAddress, policy: policy, isActive: isActive)
        case .setScanEnable:
            let isOn = try parameters.flag()
            try enableScan(isOn, filter: try parameters.byte(), end: nil)
        case .setExtendedScanEnable:
            let isOn = try parameters.flag()
            let filter = try parameters.byte()
            let duration = Int64(try parameters.number16())
            // With a period the scan repeats and does not end.
            let period = try parameters.number16()
            let isEnding = duration > 0 && period == 0
            try enableScan(
                isOn, filter: filter, end: isEnding ? time + duration * AdvertisingSet.tenMilliseconds : nil)
        default: return nil
        }
        return []
    }

    private func checkTiming(_ parameters: inout ParameterReader) throws(Status) {
        let interval = try parameters.number16()
        let window = try parameters.number16()
        // At least 2.5 ms. The scenario's loss rate covers the adverts that a scan misses between its windows.
        guard window >= 4, window <= interval else { throw .invalidParameters }
    }

    private mutating func setScan(ownAddress: UInt8, policy: UInt8, isActive: Bool) throws(Status) {
        guard !state.scanner.isEnabled else { throw .commandDisallowed }
        guard ownAddress <= 3, policy <= 3 else { throw .invalidParameters }
        state.scansFromRandomAddress = ownAddress & 1 == 1
        state.scanner.isLimitedToAcceptList = policy & 1 == 1
        state.scanner.isActive = isActive
    }

    private mutating func enableScan(_ isOn: Bool, filter: UInt8, end: Int64?) throws(Status) {
        guard filter <= 2 else { throw .invalidParameters }
        if isOn {
            if fault.refusals > 0 {
                fault.refusals -= 1
                throw fault.refusal
            }
            guard !state.scansFromRandomAddress || state.randomAddress != nil else { throw .invalidParameters }
            counters.scansStarted += 1
        }
        state.scanner.isEnabled = isOn
        state.scanner.filter = isOn && filter > 0 ? DuplicateFilter(rule: configuration.duplicateRule) : nil
        state.scanner.end = isOn ? end : nil
    }

    /// Ends the scan if its duration has passed, and reports that (7.7.65.17).
    mutating func endScan(at time: Int64) {
        guard let end = state.scanner.end, end <= time else { return }
        state.scanner.isEnabled = false
        state.scanner.end = nil
        leEvent(Self.scanTimeout, [])
    }

    /// Receives an advert.
    ///
    /// - Parameter rssi: the signal strength at this controller, in dBm.
    public mutating func hear(_ packet: AirPacket, rssi: Int8) {
        guard state.scanner.isEnabled, !fault.isSilent, !fault.isDead else { return }
        // A scan by the commands of Bluetooth 4 receives only legacy adverts.
        guard packet.form.contains(.legacy) || state.commands == .extended else { return }
        guard !state.scanner.isLimitedToAcceptList || state.acceptList.contains(packet.address) else { return }
        report(packet.form, packet.address, packet.data, rssi: rssi)
        if state.scanner.isActive, packet.form.contains(.scannable) {
            report(packet.form.union(.scanResponse), packet.address, packet.scanResponse, rssi: rssi)
        }
    }

    private mutating func report(_ form: AdvertisingForm, _ address: DeviceAddress, _ data: [UInt8], rssi: Int8) {
        let isNew = state.scanner.filter?.admits(
            address: address, isScanResponse: form.contains(.scanResponse), rssi: rssi, data: data)
        guard isNew ?? true else {
            counters.duplicates += 1
            return
        }
        guard output.count < configuration.outputLimit else {
            counters.overruns += 1
            return
        }
        counters.reports += 1
        if state.commands == .extended {
            reportExtended(form, address, data, rssi: rssi)
        } else {
            leEvent(
                Self.legacyReport,
                [1, form.legacyKind.rawValue, address.kind.rawValue] + address.bytes + [UInt8(data.count)] + data
                    + [UInt8(bitPattern: rssi)])
        }
    }

    /// Sends one extended report (7.7.65.13), or several if the advert exceeds the capacity of one.
    private mutating func reportExtended(
        _ form: AdvertisingForm, _ address: DeviceAddress, _ data: [UInt8], rssi: Int8
    ) {
        var rest = data[...]
        repeat {
            let piece = rest.prefix(Self.pieceCapacity)
            rest = rest.dropFirst(piece.count)
            // Bits 5 and 6 show whether more data follows.
            let type = form.rawValue | (rest.isEmpty ? 0 : 1 << 5)
            // The primary PHY is LE 1M. There is no secondary PHY, set, power, periodic advertising or direct address.
            let secondaryLayer: UInt8 = form.contains(.legacy) ? 0 : 1
            leEvent(
                Self.extendedReport,
                [1] + Self.bytes(type) + [address.kind.rawValue] + address.bytes
                    + [1, secondaryLayer, 0xFF, 0x7F, UInt8(bitPattern: rssi), 0, 0, 0, 0, 0, 0, 0, 0, 0]
                    + [UInt8(piece.count)] + piece)
        } while !rest.isEmpty
    }
}
