@_spi(Measurement) import BeaconMonitoring
import BeaconTestKit
import CoreLocation
import Testing

@Suite("Endless tasks, and tasks of other tests, do not stop time")
struct OtherTaskTests {
    /// A task that runs until the test is over.
    enum Kind: CaseIterable, Sendable {
        case polls, blocksItsThread

        /// Runs until the flag is raised.
        func run(until over: Flag) async {
            switch self {
            case .polls: while !over.isUp { await Task.yield() }
            case .blocksItsThread: over.wait()
            }
        }
    }

    /// The origin of the task.
    enum Origin: CaseIterable, Sendable {
        case queue, mainQueue, test, mainActor, device, callback
    }

    /// Only a few of them block, since blocked threads delay the other tests, and Swift's own threads most of all.
    static let kinds =
        Origin.allCases.map { (Kind.polls, $0) }
        + [Origin.mainQueue, .test, .callback].map { (Kind.blocksItsThread, $0) }

    /// Starts such a task.
    ///
    /// - Returns: an object to keep alive.
    private func begin(_ kind: Kind, by origin: Origin, until over: Flag, in air: SimulatedAir) async -> AnyObject? {
        switch origin {
        case .queue:
            DispatchQueue.global().async { Task.detached { await kind.run(until: over) } }
        case .mainQueue:
            DispatchQueue.main.async { Task.detached { await kind.run(until: over) } }
        case .test:
            Task.detached { await kind.run(until: over) }
        case .mainActor:
            await MainActor.run { _ = Task.detached { await kind.run(until: over) } }
        case .device:
            air.device.run { _ = Task { await kind.run(until: over) } }
        case .callback:
            let watcher = air.device.run { Watcher() }
            watcher.then = { _ = Task.detached { await kind.run(until: over) } }
            air.place(.exhibit(1, at: 2))
            return watcher
        }
        return nil
    }

    @Test("An endless task delays time once", arguments: kinds)
    func endless(kind: Kind, origin: Origin) async {
        let air = SimulatedAir()
        let over = Flag()
        let kept = await begin(kind, by: origin, until: over, in: air)
        // An app with an event each second.
        let ranging = air.device.run { Watcher() }
        ranging.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: museum))
        air.place(.exhibit(2, at: 1))
        await air.advance(by: .seconds(20))
        #expect(ranging.reports > 15)
        over.raise()
        withExtendedLifetime(kept) {}
    }

    @Test("Tasks of a device without an air do not count as its callbacks")
    func deviceWithoutAir() async {
        let air = SimulatedAir()
        let center = MeasuredCenter()
        // A test of another kind in the same process, which polls for the end of callbacks.
        await center.run {
            Task { while !center.hasNoCallbacksUnderWay { await Task.yield() } }
        }.value
        await air.settle()
        #expect(center.hasNoCallbacksUnderWay)
    }

    @Test("A task that the test starts has run to its end, however long it computes", arguments: [false, true])
    func longWork(isDetached: Bool) async {
        let air = SimulatedAir()
        let notes = Numbers()
        let work: @Sendable () async -> Void = {
            var number: UInt64 = 1
            for step in 0..<20_000_000 { number = number &* 31 &+ UInt64(step) }
            // Switches to other tasks, one after another.
            let result = number
            await hop(100) { await notes.note(result) }
        }
        if isDetached { Task.detached { await work() } } else { Task { await work() } }
        await air.settle()
        #expect(await notes.count == 1)
    }

    @Test("Chains of tasks that the test starts have run to their end, a thousand times")
    @MainActor
    func chains() async {
        for _ in 0..<1000 {
            let air = SimulatedAir()
            let notes = Numbers()
            Task.detached { await hop(20) { await notes.note(1) } }
            Task { await hop(20) { await notes.note(2) } }
            await air.settle()
            #expect(await notes.count == 2)
        }
    }
}

/// Starts a chain of tasks, and runs `body` in the last one.
private func hop(_ count: Int, _ body: @escaping @Sendable () async -> Void) async {
    guard count > 0 else { return await body() }
    Task.detached { await hop(count - 1, body) }
}

/// A flag that is raised once.
final class Flag: Sendable {
    private let condition = NSCondition()
    // Guarded by the condition.
    private nonisolated(unsafe) var raised = false

    var isUp: Bool {
        condition.lock()
        defer { condition.unlock() }
        return raised
    }

    func raise() {
        condition.lock()
        raised = true
        condition.broadcast()
        condition.unlock()
    }

    /// Blocks the thread.
    func wait() {
        condition.lock()
        while !raised { condition.wait() }
        condition.unlock()
    }
}

/// Numbers that tasks add.
private actor Numbers {
    private var numbers: [UInt64] = []

    var count: Int { numbers.count }
    func note(_ number: UInt64) { numbers.append(number) }
}

/// A delegate that performs an action when it receives a region's state, and counts ranging reports.
private final class Watcher: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
    // Unchecked: its callbacks run on the main queue, and the tests read it while time stands still.
    let manager = CLLocationManager()
    var then: (() -> Void)?
    private(set) var reports = 0

    override init() {
        super.init()
        manager.delegate = self
        manager.startMonitoring(for: CLBeaconRegion(uuid: museum, identifier: "museum"))
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        then?()
        then = nil
    }

    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        reports += 1
    }
}
