import BeaconBroker
import BeaconDelivery
import BeaconEngine
import BeaconEventStore
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

@testable import BeaconGateway

/// A gateway with one radio that hears a beacon and continues with another configuration.
private final class ReloadBench: Sendable {
    /// A runner that ends once it is stopped, like the thread of a source.
    final class Runner: GatewayRunner {
        let channel = BoundedChannel<SourceEvent>(capacity: 1)
        let isStopped = Locked(false)

        func start() {}
        func stop() {
            isStopped.withLock { $0 = true }
            channel.finish()
        }
        func scan(_ mode: ScanMode) {}
        func advertise(_ adverts: [OutgoingAdvert]) {}
    }

    private struct Note: EventWriter {
        let notified: Locked<[BeaconNotification]>
        let store: EventStore?
        func enqueue(_ step: Step, atOnce: Bool) {
            if !step.changes.isEmpty { store?.enqueue(Step(changes: step.changes), atOnce: atOnce) }
            notified.withLock { $0 += BeaconNotification.sent(in: step.events) }
        }
    }

    private struct NoSink: Sink {
        var maximumBatch: Int { 1 }
        func deliver(_ batch: [QueuedNotification]) -> [DeliveryOutcome] { [] }
    }

    let bench: GatewayBench
    let gateway: Gateway
    let destination: ConfiguredDestination
    private let notified: Locked<[BeaconNotification]>
    private let events: Locked<[RegionEvent]>
    /// The runners in order of creation, with the names of their sources.
    private let runners: Locked<[(name: String, runner: Runner)]>
    private let now = Locked(1000.0)

    init(_ configuration: GatewayConfiguration, in bench: GatewayBench) {
        self.bench = bench
        let (events, runners) = (Locked<[RegionEvent]>([]), Locked<[(name: String, runner: Runner)]>([]))
        let notified = Locked<[BeaconNotification]>([])
        (self.events, self.runners, self.notified) = (events, runners, notified)
        destination = ConfiguredDestination(
            Destination(name: "test", sink: NoSink()),
            receive: { event in
                if case .region(let change) = event { events.withLock { $0.append(change) } }
            })
        gateway = Gateway(
            configuration, destinations: [destination], writer: Note(notified: notified, store: bench.store),
            store: bench.store, state: bench.store.map(GatewayState.init), launches: nil, published: bench.published,
            logger: bench.lines.logger,
            makeRunner: { settings, _ in
                let runner = Runner()
                runners.withLock { $0.append((settings.name, runner)) }
                return runner
            })
    }

    /// The enters and exits of regions and beacons that a destination received.
    var words: [String] {
        events.withLock { $0 }.filter { $0.kind != .state }.map { "\($0.kind) \($0.name)" }
    }

    /// The notifications.
    var notifications: [String] { notified.withLock { $0 }.map { "\($0.kind.rawValue) \($0.region?.name ?? "-")" } }

    /// The opened sources, in order.
    var opened: [String] { runners.withLock { $0 }.map(\.name) }

    /// The sources with running threads.
    var running: [String] { runners.withLock { $0 }.filter { !$0.runner.isStopped.withLock { $0 } }.map(\.name) }

    private func send(_ event: SourceEvent, to runner: Runner) async {
        await ScriptedRadios.onThread {
            runner.channel.send(event)
            // Received once the previous event is handled.
            runner.channel.send(.heard(SourceBatch()))
        }
    }

    /// Lets seconds pass while all running radios report.
    func pass(_ seconds: Int, hearing isHeard: Bool = true) async throws {
        for _ in 0..<seconds {
            let time = now.withLock { now in
                now += 1
                return now
            }
            for (name, runner) in runners.withLock({ $0 }) where !runner.isStopped.withLock({ $0 }) {
                await send(.opened, to: runner)
                await send(.state(.poweredOn), to: runner)
                var batch = ScriptedRadios.batch(hearing: isHeard ? [time] : [], until: time)
                batch.receiverNames = [name]
                await send(.heard(batch), to: runner)
            }
        }
        // The last event but one is handled once another waits.
        for (_, runner) in runners.withLock({ $0 }) where !runner.isStopped.withLock({ $0 }) {
            await send(.heard(SourceBatch()), to: runner)
        }
        try await eventually("everything is written") { await gateway.isSettled }
    }

    /// Runs the gateway while a body runs.
    func run(_ body: () async throws -> Void) async throws {
        let task = Task { await gateway.run() }
        try await eventually("the sources are opened") { await gateway.pumps.isRunning }
        try await body()
        await gateway.stop()
        await task.value
    }

    func reload(_ configuration: GatewayConfiguration) async throws {
        try #require(await gateway.canContinue(with: configuration, reopeningSources: false))
        await gateway.reload(
            GatewayReload(base: configuration, configuration: configuration, destinations: [destination]))
    }
}

extension Gateway {
    /// True if nothing waits to be handled or written.
    fileprivate var isSettled: Bool {
        queue.isEmpty && !listener.hasEvents && (store?.health.waitingBytes ?? 0) == 0
    }
}

@Suite("A gateway that continues with another configuration")
struct GatewayReloadTests {
    /// A change of the configuration and its expected effects.
    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// The region that is inside afterwards.
        var inside = "hall"
        /// The enters and exits that the change causes while the beacon is still heard.
        var events: [String] = []
        /// The enters and exits of beacons, which only destinations receive.
        var beaconEvents: [String] = []
        /// The opened sources, in order.
        var opened = ["a"]
        /// The sources that run afterwards.
        var running = ["a"]
        var change: @Sendable (inout GatewayConfiguration) -> Void
    }

    private static let other = BeaconConstraint(uuid: ProximityUUID(high: 0, low: 1))

    private static func configuration(_ bench: GatewayBench) -> GatewayConfiguration {
        var configuration = bench.configuration([GatewayBench.radio("a", isNamed: false)])
        configuration.beacons = [BeaconSettings(name: "keys", identity: ScriptedRadios.identity)]
        configuration.places = PlacePlan([PlacePlan.Place(name: "foyer", receivers: ["a"])])
        configuration.notify.kinds = [.enter, .exit, .place]
        // With a broker, each named beacon has its own region.
        var broker = BrokerSettings()
        broker.connection.host = "broker"
        configuration.destinations = [DestinationSettings(name: "home", kind: .mqtt(broker))]
        return configuration
    }

    static let cases: [Case] = [
        Case(testDescription: "nothing", change: { _ in }),
        Case(testDescription: "region renamed", inside: "store", change: { $0.regions[0].name = "store" }),
        Case(
            testDescription: "region with another timeout",
            change: { $0.regions[0].region.exitTimeout = .seconds(60) }),
        Case(
            testDescription: "region renamed with another timeout", inside: "store",
            change: {
                $0.regions[0].name = "store"
                $0.regions[0].region.exitTimeout = .seconds(60)
            }),
        Case(
            testDescription: "region of other beacons", events: ["enter hall"],
            change: { $0.regions = [GatewayBench.region("hall", minor: 1)] }),
        Case(
            testDescription: "region added", events: ["enter near"],
            change: { $0.regions.append(GatewayBench.region("near", minor: 1)) }),
        Case(
            testDescription: "another region removed",
            change: { $0.regions = $0.regions.filter { $0.name == "hall" } }),
        Case(testDescription: "beacon renamed", change: { $0.beacons[0].name = "purse" }),
        Case(testDescription: "beacon removed", change: { $0.beacons = [] }),
        Case(
            testDescription: "beacon added",
            change: {
                $0.beacons.append(
                    BeaconSettings(
                        name: "bag", identity: BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: 2, minor: 2)))
            }),
        Case(testDescription: "place renamed", change: { $0.places?.places[0].name = "entrance" }),
        Case(
            testDescription: "place added",
            change: { $0.places?.places.append(PlacePlan.Place(name: "attic", receivers: ["z"])) }),
        Case(testDescription: "places removed", change: { $0.places = nil }),
        Case(testDescription: "kinds of notification", change: { $0.notify.kinds.insert(.gone) }),
        Case(testDescription: "heartbeat", change: { $0.notify.heartbeatInterval = .seconds(3_600) }),
        Case(
            testDescription: "source added", opened: ["a", "b"], running: ["a", "b"],
            change: { $0.sources.append(GatewayBench.radio("b", isNamed: false)) }),
        Case(
            testDescription: "source with other settings", opened: ["a", "a"], running: ["a"],
            change: { $0.sources = [SourceSettings(name: "a", specification: .hci(adapters: "hci7"))] }),
        Case(
            testDescription: "source renamed", opened: ["a", "b"], running: ["b"],
            change: { $0.sources[0].name = "b" }),
    ]

    @Test("Unchanged items continue, and renaming sends nothing", arguments: cases)
    func matrix(_ one: Case) async throws {
        let files = try GatewayBench()
        let configuration = Self.configuration(files)
        let bench = ReloadBench(configuration, in: files)
        try await bench.run {
            try await bench.pass(40)
            #expect(bench.notifications.filter { $0.hasPrefix("enter") } == ["enter hall"])
            let (before, words) = (bench.notifications.count, bench.words.count)
            var next = configuration
            one.change(&next)
            try await bench.reload(next)
            try await bench.pass(40)
            #expect(Array(bench.notifications.dropFirst(before)) == one.events)
            #expect(Array(bench.words.dropFirst(words)) == one.events + one.beaconEvents)
            #expect(await bench.gateway.state(of: one.inside) == .inside)
            #expect(bench.opened == one.opened)
            #expect(bench.running == one.running)
        }
    }

    @Test("A change before the last run's states are read loses none of them")
    func early() async throws {
        let files = try GatewayBench()
        let configuration = Self.configuration(files)
        try await files.remember(.inside, of: "hall")
        let bench = ReloadBench(configuration, in: files)
        await bench.gateway.apply(configuration)
        // Another configuration makes the gateway write all states, which are still unknown here.
        await bench.gateway.settle()
        #expect(try await files.remembered("hall") == .inside)
        try await bench.run {
            try await bench.pass(3)
            #expect(await bench.gateway.state(of: "hall") == .inside)
        }
        #expect(!bench.notifications.contains("enter hall"))
        #expect(try await files.remembered("hall") == .inside)
    }

    @Test("A renamed region is exited with its new name, and a restart finds it by that")
    func exitAfterRename() async throws {
        let files = try GatewayBench()
        var configuration = Self.configuration(files)
        let bench = ReloadBench(configuration, in: files)
        try await bench.run {
            try await bench.pass(10)
            configuration.regions[0].name = "store"
            try await bench.reload(configuration)
            try await bench.pass(5)
            try await eventually { try await files.remembered("store") == .inside }
            try await eventually { try await files.remembered("hall") == nil }
            try await bench.pass(60, hearing: false)
        }
        let moves = bench.notifications.filter { !$0.hasPrefix("place") }
        #expect(moves == ["enter hall", "exit store"])
    }

    @Test("Two regions that exchange their names exchange their states")
    func exchanged() async throws {
        let files = try GatewayBench()
        var configuration = Self.configuration(files)
        configuration.regions.append(RegionSettings(name: "cellar", region: MonitoredRegion(Self.other)))
        let bench = ReloadBench(configuration, in: files)
        try await bench.run {
            try await bench.pass(40)
            (configuration.regions[0].name, configuration.regions[1].name) = ("cellar", "hall")
            let before = bench.notifications.count
            try await bench.reload(configuration)
            try await bench.pass(40)
            #expect(await bench.gateway.state(of: "cellar") == .inside)
            #expect(await bench.gateway.state(of: "hall") != .inside)
            #expect(bench.notifications.count == before)
        }
    }

    @Test("Once the source that kept a region is removed, the silence of the others exits it")
    func removedSource() async throws {
        let files = try GatewayBench()
        var configuration = Self.configuration(files)
        configuration.sources.append(GatewayBench.radio("b", isNamed: false))
        configuration.places = nil
        let bench = ReloadBench(configuration, in: files)
        try await bench.run {
            try await bench.pass(10)
            configuration.sources.removeFirst()
            try await bench.reload(configuration)
            #expect(bench.running == ["b"])
            try await bench.pass(60, hearing: false)
        }
        #expect(bench.notifications == ["enter hall", "exit hall"])
    }

    @Test(
        "A sequence of changes sends the same as the last configuration alone",
        arguments: [1, 2, 3, 5, 8, 13, 21, 34] as [UInt64])
    func sequences(_ seed: UInt64) async throws {
        let files = try GatewayBench()
        var configuration = Self.configuration(files)
        configuration.places = nil
        let bench = ReloadBench(configuration, in: files)
        var state = seed
        func draw(_ bound: UInt64) -> UInt64 {
            // SplitMix64 (Steele, Lea, Flood).
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
            return (value ^ value >> 31) % bound
        }
        try await bench.run {
            try await bench.pass(10)
            for step in 0..<12 {
                switch draw(4) {
                case 0: configuration.regions[0].name = "region \(step)"
                case 1: configuration.beacons[0].name = "beacon \(step)"
                case 2: configuration.regions[0].region.exitTimeout = .seconds(30 + Double(step))
                default: configuration.sources[0].specification = .hci(adapters: "hci\(step)")
                }
                try await bench.reload(configuration)
                try await bench.pass(3)
            }
            #expect(await bench.gateway.state(of: configuration.regions[0].name) == .inside, "seed \(seed)")
            #expect(bench.running == ["a"], "seed \(seed)")
        }
        #expect(bench.notifications == ["enter hall"], "seed \(seed)")
    }
}
