import BeaconFleet
import BeaconModel
import Foundation

extension FleetMember {
    /// The partitions that this machine decides on.
    var workedPartitions: [Int] { works.values.filter { $0.work != nil }.map(\.partition).sorted() }

    /// The fleet as this machine sees it.
    package func overview() async -> FleetOverviewValue {
        var value = FleetOverviewValue(name: settings.name, node: settings.node, connected: isConnected)
        value.reason = isConnected ? nil : lostBecause
        value.partitions = partitions?.count ?? 0
        guard isConnected else { return value }
        if let entries = try? await exchange.entries(.member) {
            value.members = entries.compactMap {
                try? JSONDecoder().decode(FleetMemberValue.self, from: Data($0.value))
            }
            .sorted { $0.node < $1.node }
        }
        if let holders = try? await holders() {
            let names = Dictionary(value.members.map { ($0.worker, $0.node) }) { first, _ in first }
            value.owners = (0..<value.partitions).map { holders[$0].map { names[$0] ?? $0 } }
        }
        value.log = try? await exchange.lastSequence()
        if let entry = try? await exchange.entry(.delivered) {
            value.delivered = UInt64(String(decoding: entry.value, as: UTF8.self))
        }
        return value
    }
}
