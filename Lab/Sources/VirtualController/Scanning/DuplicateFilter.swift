import BeaconModel

/// The adverts reported in a scan, identified as the rule requires.
struct DuplicateFilter: Sendable {
    private struct Key: Hashable {
        var address: DeviceAddress
        var isScanResponse: Bool
        var rssi: Int8?
        var data: [UInt8]?
    }

    private let rule: DuplicateRule
    private var seen: Set<Key> = []

    /// The capacity of the filter. When it is full it starts over, like controllers that run out of memory.
    private static let capacity = 4096

    init(rule: DuplicateRule) { self.rule = rule }

    /// Returns true for the first advert of its kind.
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
