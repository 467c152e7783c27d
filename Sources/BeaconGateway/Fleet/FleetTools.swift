import BeaconFleet
import BeaconNATS
import BeaconSupport
import Foundation
public import Logging

/// Operations on a fleet from the command line, without joining it.
public enum FleetTools {
    /// Replaces the regions, places and named beacons of all machines with those of a file.
    ///
    /// - Returns: the new contents, as a sentence.
    /// - Throws: an error if the file names no fleet or the fleet cannot be reached.
    public static func publish(_ configuration: GatewayConfiguration, logger: Logger) async throws -> String {
        let shared = configuration.items.filter(\.isShared)
        try await connected(configuration, logger) { member in try await member.publishOwn() }
        let counts = ConfigurationItem.Kind.allCases.filter(\.isShared).map { kind in
            let count = shared.count { $0.kind == kind }
            return "\(count) \(kind.rawValue)\(count == 1 ? "" : "s")"
        }
        return "the fleet now follows \(counts.joined(separator: ", "))"
    }

    /// Returns a summary of the fleet in lines: its machines, their partitions and their deaf receivers.
    ///
    /// - Throws: an error if the file names no fleet or the fleet cannot be reached.
    public static func overview(_ configuration: GatewayConfiguration, logger: Logger) async throws -> [String] {
        let value = try await connected(configuration, logger) { member in
            await member.step()
            return await member.overview()
        }
        var lines = ["fleet \(value.name): \(value.members.count.counted("machine"))"]
        for member in value.members {
            let owned = value.owners.count { $0 == member.node }
            let deaf = member.receivers.filter { !$0.hears }.map(\.name)
            var words = [member.receivers.count.counted("receiver")]
            if member.works { words.append(owned.counted("partition")) }
            if member.delivers { words.append("delivers") }
            if member.unwritten > 0 { words.append("waiting: \(member.unwritten.counted("change"))") }
            if !deaf.isEmpty { words.append("deaf: \(deaf.joined(separator: ", ").printable)") }
            lines.append("  \(member.node.printable): \(words.joined(separator: ", "))")
        }
        let unowned = value.owners.indices.filter { value.owners[$0] == nil }
        if !unowned.isEmpty {
            lines.append("  without an owner: partitions \(unowned.map(String.init).joined(separator: ", "))")
        }
        if let log = value.log {
            let delivered = value.delivered ?? 0
            lines.append(
                log > delivered
                    ? "  waiting for delivery: \(log - delivered)" : "  all changes are delivered: \(log)")
        }
        return lines
    }

    private struct NoAudience: FleetAudience {
        func follow(_ configuration: GatewayConfiguration, _ partitions: FleetPartitions) {}
        func restore(_ state: FleetRegionState) {}
        func restore(_ state: FleetPlaceState) {}
        func restored() {}
        func show(_ transition: FleetTransition) {}
        func knows(_ transition: FleetTransition) -> Bool { false }
        func known(_ label: String) -> FleetRegionState? { nil }
        func knownPlaces() -> [FleetPlaceState] { [] }
        func stored(_ key: GatewayState.Key) -> [UInt8]? { nil }
        func save(_ value: [UInt8], for key: GatewayState.Key) {}
        func keep(_ missed: [FleetTransition]) {}
        func canDeliver() -> Bool { false }
        func deliver(_ transition: FleetTransition) -> Bool { false }
        func ownReceivers() -> [FleetMemberValue.Receiver] { [] }
    }

    /// The time limit for connecting.
    private static let patience = Duration.seconds(10)

    private static func connected<Value: Sendable>(
        _ configuration: GatewayConfiguration, _ logger: Logger, _ body: (FleetMember) async throws -> Value
    ) async throws -> Value {
        guard let settings = configuration.fleet, case .nats(let options) = settings.transport else {
            throw FleetError(
                .refused, "the configuration names no fleet; write \"fleet: nats://HOST\", or name it with --fleet")
        }
        let exchange = NATSExchange(options, name: settings.name)
        let change = Locked<FleetConnection?>(nil)
        let signal = AsyncSignal()
        let member = FleetMember(
            settings, exchange: exchange, configuration: configuration, items: [], audience: NoAudience(),
            logger: logger)
        try await member.open { connection in
            change.withLock { $0 = connection }
            signal.signal()
        }
        defer { exchange.close() }
        let deadline = ContinuousClock.now + patience
        while change.withLock({ $0 }) != .connected {
            guard ContinuousClock.now < deadline else {
                var reason = "no machine answers"
                if case .lost(let sentence)? = change.withLock({ $0 }) { reason = sentence }
                throw FleetError(.unreachable, "cannot reach the fleet at \(options.title): \(reason)")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        return try await body(member)
    }
}
