import BeaconTestKit
import CoreLocation
import Synchronization
import Testing

@Suite("Virtual time waits for the tasks that it wakes")
struct WokenTaskTests {
    private static let everyone = CLMonitor.BeaconIdentityCondition(uuid: museum)

    /// Threads that keep all processors busy.
    private final class Load {
        private final class Flag: Sendable {
            let isOver = Atomic<Bool>(false)
        }

        private let flag = Flag()

        init(_ isWanted: Bool) {
            for _ in 0..<(isWanted ? 2 : 0) {
                Thread.detachNewThread { [flag] in while !flag.isOver.load(ordering: .relaxed) {} }
            }
        }

        deinit { flag.isOver.store(true, ordering: .relaxed) }
    }

    /// An app on the main actor that monitors from its own task, adds a condition after its first event, and reads the
    /// record of each event before noting the event, as in Apple's sample.
    @MainActor
    private final class Shop {
        private(set) var seen: [String] = []

        func start() async throws {
            let monitor = await CLMonitor("shop")
            await monitor.add(WokenTaskTests.everyone, identifier: "shop")
            for try await event in await monitor.events {
                let before = await monitor.record(for: event.identifier)?.lastEvent.state
                seen.append("\(event.identifier) \(before.map { "\($0)" } ?? "-") \(event.state)")
                if event.identifier == "shop" {
                    await monitor.add(
                        CLMonitor.BeaconIdentityCondition(uuid: museum, major: 1), identifier: "door",
                        assuming: .unsatisfied)
                }
            }
        }
    }

    /// The same as a separate actor.
    private actor Service {
        private(set) var seen: [String] = []

        func start() async throws {
            let monitor = await CLMonitor("shop")
            await monitor.add(WokenTaskTests.everyone, identifier: "shop")
            for try await event in await monitor.events {
                let before = await monitor.record(for: event.identifier)?.lastEvent.state
                seen.append("\(event.identifier) \(before.map { "\($0)" } ?? "-") \(event.state)")
                if event.identifier == "shop" {
                    await monitor.add(
                        CLMonitor.BeaconIdentityCondition(uuid: museum, major: 1), identifier: "door",
                        assuming: .unsatisfied)
                }
            }
        }
    }

    private static let expected = ["shop unknown satisfied", "door unsatisfied satisfied"]

    @Test("An app on the main actor has handled each event of its monitor, a thousand times", arguments: [false, true])
    @MainActor
    func mainActor(isBusy: Bool) async {
        let load = Load(isBusy)
        for _ in 0..<1000 {
            let air = SimulatedAir()
            let shop = Shop()
            let task = air.device.run { Task { try await shop.start() } }
            air.place(.exhibit(1, at: 2))
            await air.advance(by: .seconds(1))
            guard shop.seen == Self.expected else {
                Issue.record("\(shop.seen)")
                return task.cancel()
            }
            task.cancel()
        }
        withExtendedLifetime(load) {}
    }

    @Test("An app that is an actor has handled each event of its monitor, a thousand times", arguments: [false, true])
    func actor(isBusy: Bool) async {
        let load = Load(isBusy)
        for _ in 0..<1000 {
            let air = SimulatedAir()
            let service = Service()
            let task = air.device.run { Task { try await service.start() } }
            air.place(.exhibit(1, at: 2))
            await air.advance(by: .seconds(1))
            let seen = await service.seen
            task.cancel()
            guard seen == Self.expected else {
                Issue.record("\(seen)")
                return
            }
        }
        withExtendedLifetime(load) {}
    }

    @Test("A task that the test itself starts has handled each event, a thousand times", arguments: [false, true])
    func ownTask(isBusy: Bool) async {
        let load = Load(isBusy)
        for _ in 0..<1000 {
            let air = SimulatedAir()
            let monitor = await air.device.run { await CLMonitor("shop") }
            let seen = Notes()
            let task = Task {
                for try await event in await monitor.events { await seen.note("\(event.identifier) \(event.state)") }
            }
            await monitor.add(Self.everyone, identifier: "shop")
            air.place(.exhibit(1, at: 2))
            await air.advance(by: .seconds(1))
            let words = await seen.words
            task.cancel()
            guard words == ["shop satisfied"] else {
                Issue.record("\(words)")
                return
            }
        }
        withExtendedLifetime(load) {}
    }

    @Test("Tasks that a delegate's stream wakes have run, and tasks that they wake in turn, a thousand times")
    @MainActor
    func stream() async {
        for _ in 0..<1000 {
            let air = SimulatedAir()
            let notes = Notes()
            let scanner = air.device.run { Scanner() }
            let states = scanner.states
            let task = air.device.run {
                Task {
                    for await state in states {
                        // To the main actor, to another task, and from there to another actor.
                        await MainActor.run { _ = Task { await notes.note("\(state.rawValue)") } }
                    }
                }
            }
            air.place(.exhibit(1, at: 2))
            await air.advance(by: .seconds(1))
            let words = await notes.words
            task.cancel()
            guard words == ["1"] else {
                Issue.record("\(words)")
                return
            }
        }
    }

    @Test("A task of the main actor that wakes another one, and so on, has run to the end")
    @MainActor
    func chain() async {
        let air = SimulatedAir()
        let scanner = air.device.run { Scanner() }
        var steps = 0
        func step() {
            steps += 1
            if steps < 15 { Task { @MainActor in step() } }
        }
        let task = Task { @MainActor in
            for await _ in scanner.states { step() }
        }
        air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(1))
        #expect(steps == 15)
        task.cancel()
    }

    @Test("A handler that waits for time delays time only while it runs, and handles the next event then")
    @MainActor
    func handlerThatWaits() async {
        let air = SimulatedAir()
        let monitor = await air.device.run { await CLMonitor("shop") }
        await monitor.add(Self.everyone, identifier: "shop", assuming: .unsatisfied)
        let scanner = air.device.run { Scanner() }
        var seen: [String] = []
        let task = air.device.run {
            Task { @MainActor in
                for try await event in await monitor.events {
                    seen.append("\(event.state)")
                    // The region's next state, which follows with time alone.
                    for await state in scanner.states where state == .outside { break }
                    seen.append("outside")
                }
            }
        }
        let beacon = air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(1))
        #expect(seen == ["satisfied"])
        beacon.remove()
        await air.advance(by: .seconds(60))
        #expect(seen == ["satisfied", "outside", "unsatisfied"])
        task.cancel()
    }

    @Test("A test that reads an event itself advances time while it handles the event")
    func eventOfTheTest() async throws {
        let air = SimulatedAir()
        let monitor = await air.device.run { await CLMonitor("shop") }
        await monitor.add(Self.everyone, identifier: "shop")
        var events = await monitor.events.makeAsyncIterator()
        let beacon = air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(1))
        #expect(try await events.next()?.state == .satisfied)
        beacon.remove()
        await air.advance(by: .seconds(60))
        #expect(try await events.next()?.state == .unsatisfied)
    }

    @Test("A condition that is added and removed before time advances delivers nothing")
    func removed() async {
        let air = SimulatedAir()
        let monitor = await air.device.run { await CLMonitor("shop") }
        let seen = Notes()
        let task = Task {
            for try await event in await monitor.events { await seen.note("\(event.identifier) \(event.state)") }
        }
        let circle = CLMonitor.CircularGeographicCondition(
            center: CLLocationCoordinate2D(latitude: 1, longitude: 2), radius: 3)
        await air.settle()
        for _ in 0..<100 {
            await monitor.add(Self.everyone, identifier: "a", assuming: .unsatisfied)
            await monitor.remove("a")
            await monitor.add(circle, identifier: "b")
            await monitor.remove("b")
        }
        await monitor.add(Self.everyone, identifier: "a", assuming: .unsatisfied)
        air.place(.exhibit(1, at: 2))
        await air.advance(by: .seconds(1))
        #expect(await seen.words.filter { $0.hasPrefix("a ") } == ["a satisfied"])
        task.cancel()
    }
}

/// Words that tasks add.
private actor Notes {
    private(set) var words: [String] = []

    func note(_ word: String) { words.append(word) }
}

/// A delegate that sends states to a stream, like wrappers of Core Location.
private final class Scanner: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
    // Unchecked: the manager is used where it was created, and the stream can be used anywhere.
    let states: AsyncStream<CLRegionState>
    private let continuation: AsyncStream<CLRegionState>.Continuation
    private let manager = CLLocationManager()

    override init() {
        (states, continuation) = AsyncStream.makeStream()
        super.init()
        manager.delegate = self
        manager.startMonitoring(for: CLBeaconRegion(uuid: museum, identifier: "museum"))
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        continuation.yield(state)
    }
}
