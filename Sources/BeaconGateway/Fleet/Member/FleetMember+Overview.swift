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
        // The command line does not follow the fleet.
        if partitions == nil, let entry = try? await exchange.entry(.configuration),
            let shared = try? FleetConfiguration(entry.value, at: entry.revision)
        {
            value.partitions = shared.partitions
        }
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
            value.delivered = FleetPosition(entry.value)?.sequence
        }
        return value
    }

    /// How long a loss of the log counts as a finding, in nanoseconds.
    private static let lossTime = 24 * 3600 * Timestamp.nanosecondsPerSecond

    /// The reason why this machine does not follow the fleet; nil if it does.
    package var failure: String? {
        guard isConnected else { return "no connection to the fleet\(lostBecause.map { ": \($0)" } ?? "")" }
        return fault.map { "this machine cannot follow the fleet: \($0)" }
    }

    /// The notices of near matches in this machine's partitions.
    package var nearMatches: [String] { works.values.flatMap { $0.work?.nearMatches ?? [] }.sorted() }

    /// The last loss of messages within a day, if messages were lost.
    package var recentLoss: String? {
        guard let loss, clock.wall().since(loss.time) < Self.lossTime else { return nil }
        let time = Date(timeIntervalSince1970: loss.time.seconds).formatted(.iso8601)
        return "\(loss.sentence), noticed at \(time). Changes in them that were not delivered are lost"
    }
}
