package import BeaconDelivery
import BeaconEngine
package import BeaconEventStore
package import BeaconGateway
package import BeaconModel
package import BeaconMonitoring
import BeaconRadio
package import BeaconRelay
package import BeaconSupport
import CoreMetrics
package import Foundation
package import TestSupport
import Testing

/// A gateway with notifications and events that a test reads, in a temporary folder.
package final class GatewayBench: Sendable {
    package static let uuid = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"
    package static let stranger = "00000000-0000-0000-0000-000000000001"
    package static let constraint = BeaconConstraint(
        uuid: ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0))

    package let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
    package let lines = LogLines()
    package let published = Locked(GatewayStatistics(sources: []))
    /// The number of events that the destination had received when it was notified that restoring the last run is done.
    package let restorations = Locked<[Int]>([])
    /// The events that the destination received.
    package let received = Locked<[BeaconEvent]>([])
    private let notifications = Locked<[BeaconNotification]>([])

    /// The event store, which all gateways of the bench share, or nil if they keep nothing.
    package let store: EventStore?

    /// Creates a bench.
    ///
    /// - Parameters:
    ///   - keepsPresence: false for gateways that keep nothing on the disk, which saves time.
    ///   - disk: the disk of the store; or nil for the system's.
    package init(keepsPresence: Bool = true, disk: TestDisk? = nil) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        store = try keepsPresence ? Self.store(in: folder, lines, on: disk) : nil
    }

    package static func store(in folder: URL, _ lines: LogLines, on disk: TestDisk? = nil) throws -> EventStore {
        var settings = EventStoreSettings.gateway
        settings.retention = .init(WebSettings())
        return try EventStore(
            file: folder.appendingPathComponent("beacond.sqlite"), settings: settings, logger: lines.logger,
            metrics: MetricsSystem.factory, clock: disk?.clock ?? .system, fault: disk.map { $0.write })
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    // MARK: - Sources

    /// Returns a line of a sighting log.
    package static func line(
        _ time: Double, minor: Int = 1, uuid: String = GatewayBench.uuid, receiver: String = "hci0", rssi: Int = -60
    ) -> String {
        """
        {"time":\(String(format: "%.3f", time)),"receiver":"\(receiver)","address":"c0:00:00:00:00:01","uuid":"\(uuid)",\
        "major":1,"minor":\(minor),"measuredPower":-59,"rssi":\(rssi)}

        """
    }

    /// Writes a sighting log and returns it as a source.
    package func log(
        _ name: String, _ text: String, receiver: String? = nil, pace: Pace? = nil
    ) throws -> SourceSettings {
        let file = folder.appendingPathComponent(name).path
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        return SourceSettings(name: name, specification: .file(path: file), receiver: receiver, pace: pace)
    }

    /// Returns a source with a radio's name, for a test's own runner.
    package static func radio(_ name: String, isNamed: Bool) -> SourceSettings {
        SourceSettings(name: name, specification: .hci(adapters: name), receiver: isNamed ? name : nil)
    }

    // MARK: - The gateway

    package static func region(_ name: String, minor: UInt16? = nil) -> RegionSettings {
        let uuid = constraint.uuid
        return RegionSettings(
            name: name,
            region: MonitoredRegion(minor.map { BeaconConstraint(uuid: uuid, major: 1, minor: $0) } ?? constraint))
    }

    private struct Writer: EventWriter {
        let bench: GatewayBench

        func enqueue(_ step: Step, atOnce: Bool) {
            bench.store?.enqueue(step, atOnce: atOnce)
            let events = step.events + step.addressed.map(\.event)
            bench.notifications.withLock { $0 += BeaconNotification.sent(in: events) }
        }
    }

    private struct NoSink: Sink {
        var maximumBatch: Int { 1 }
        func deliver(_ batch: [QueuedNotification]) -> [DeliveryOutcome] { [] }
    }

    /// Creates a gateway.
    ///
    /// - Parameters:
    ///   - sources: the sources.
    ///   - regions: the regions; by default one of every beacon, "hall".
    ///   - runners: the runners of the sources by name; by default the sources' own.
    ///   - places: the places; by default none.
    ///   - launches: the launcher of applications.
    ///   - rules: the rule engine.
    ///   - broadcast: notifies a console of changes.
    ///   - delivery: delivers notifications from the store, or nil if a test reads them.
    ///   - journal: keeps what it hears.
    package func gateway(
        _ sources: [SourceSettings], regions: [RegionSettings] = [GatewayBench.region("hall")],
        runners: [String: any GatewayRunner] = [:], places: PlacePlan? = nil, launches: LaunchAgent? = nil,
        rules: RuleEngine? = nil, broadcast: EventBroadcast? = nil, proxy: ProxyServer? = nil, fleet: FleetLink? = nil,
        configuration given: GatewayConfiguration? = nil, delivery: DeliveryService<ContinuousClock>? = nil,
        journal: Journal? = nil
    ) -> Gateway {
        let configuration = given ?? configuration(sources, regions: regions, places: places)
        var destination = ConfiguredDestination(Destination(name: "test", sink: NoSink())) { event in
            self.received.withLock { $0.append(event) }
        }
        destination.restored = {
            let count = self.words.count
            self.restorations.withLock { $0.append(count) }
        }
        let writer: any EventWriter = if let store, delivery != nil { store } else { Writer(bench: self) }
        return Gateway(
            configuration, destinations: [destination], writer: writer,
            store: store, state: store.map(GatewayState.init),
            launches: launches, rules: rules, published: published, logger: lines.logger,
            broadcast: broadcast, proxy: proxy, fleet: fleet, journal: journal,
            makeRunner: { runners[$0.name] ?? SourceRunner($0.specification, pace: $0.pace, observer: $1) })
    }

    /// Returns the consumer that passes a gateway's events to an engine's rules from now on.
    package func consumer(of engine: RuleEngine, for gateway: Gateway) async throws -> RuleConsumer {
        guard let store else { throw CancellationError() }
        return RuleConsumer(
            history: try EventHistory(store), people: GatewayState(store).people, engine: engine, gateway: gateway,
            broadcast: EventBroadcast(store), logger: lines.logger)
    }

    /// Runs a gateway to the end of its sources, and lets rules process all events.
    package func run(_ gateway: Gateway, with engine: RuleEngine) async throws {
        let consumer = try await consumer(of: engine, for: gateway)
        await gateway.run()
        while try await consumer.work() {}
        await engine.finish()
    }

    /// Returns the configuration of such a gateway.
    package func configuration(
        _ sources: [SourceSettings], regions: [RegionSettings] = [GatewayBench.region("hall")], places: PlacePlan? = nil
    ) -> GatewayConfiguration {
        var configuration = GatewayConfiguration(outbox: OutboxSettings(path: folder.path + "/outbox.sqlite"))
        configuration.sources = sources
        configuration.regions = regions
        configuration.places = places
        configuration.notify.kinds = places == nil ? [.enter, .exit] : [.place]
        return configuration
    }

    /// The state outside the configuration.
    package var state: GatewayState {
        get throws { GatewayState(try store ?? Self.store(in: folder, lines)) }
    }

    // MARK: - Results

    /// The events that a destination received, as text.
    package var words: [String] {
        received.withLock { $0 }.compactMap { if case .region(let change) = $0 { Self.word(change) } else { nil } }
    }

    /// The place changes with notifications, as text.
    package var places: [String] {
        notifications.withLock { $0 }.filter { $0.kind == .place }.map {
            "\($0.time.seconds) \($0.beacon?.minor ?? 0) \($0.before ?? "-") > \($0.place ?? "-") \($0.region?.name ?? "-")"
        }
    }

    /// The notifications as text.
    package var notified: [String] {
        notifications.withLock { $0 }.map {
            "\($0.kind.rawValue) \($0.region?.name ?? "-") \($0.time.seconds) \($0.receiver ?? "-")"
        }
    }

    package static func word(_ event: RegionEvent) -> String {
        "\(event.kind) \(event.name) \(event.state) \(event.time.seconds) \(event.receiver ?? "-")"
    }

    /// Runs a gateway over files to their end.
    package func run(
        _ sources: [SourceSettings], regions: [RegionSettings] = [GatewayBench.region("hall")]
    ) async -> [String] {
        await gateway(sources, regions: regions).run()
        return words
    }
}
