import BeaconModel

/// The adverts that were reported in a scan, by what the rule looks at.
struct DuplicateFilter: Sendable {
    private struct Key: Hashable {
        var address: DeviceAddress
        var isScanResponse: Bool
        var rssi: Int8?
        var data: [UInt8]?
    }

    private let rule: DuplicateRule
    private var seen: Set<Key> = []

    /// How many adverts are remembered. Then the filter begins anew, as those of controllers do that run out of memory.
    private static let capacity = 4096

    init(rule: DuplicateRule) { self.rule = rule }

    /// Whether an advert is the first of its kind.
    mutating func admits(address: DeviceAddress, isScanResponse: Bool, rssi: Int8, data: [UInt8]) -> Bool {
        guard rule != .never else { return true }
        if seen.count >= Self.capacity { seen.removeAll(keepingCapacity: true) }
        return seen.insert(
            Key(
                address: address, isScanResponse: isScanResponse, rssi: rule == .signal ? rssi : nil,
                data: rule == .data ? data : nil)
        ).inserted
    }
}
