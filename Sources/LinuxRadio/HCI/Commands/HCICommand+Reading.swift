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
        return ScanParameters(isActive: parameters[start] != 0, interval: number(1), window: number(3))
    }

    /// Of a command about advertising sets: those it names, or none where it means all.
    var advertisingSets: [UInt8] {
        switch opcode {
        case .setExtendedAdvertisingEnable:
            let count = parameters.count > 1 ? Int(parameters[1]) : 0
            return (0..<count).compactMap { 2 + $0 * 4 < parameters.count ? parameters[2 + $0 * 4] : nil }
        default: return parameters.first.map { [$0] } ?? []
        }
    }
}
