import BeaconApplications
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import CoreLocation
import Testing

@Suite("Location manager")
struct CLLocationManagerTests {
    private let shop = CLBeaconRegion(uuid: deployment, identifier: "shop")

    @Test("An app that asks before the radio is open learns whether there can be one", arguments: [true, false])
    func availabilityAtTheStart(lacksRadio: Bool) {
        var configuration = CenterConfiguration(application: ApplicationIdentity("test"), store: MemoryRegionStore())
        configuration.lacksRadio = lacksRadio
        BeaconCenter.withCurrent(BeaconCenter(configuration)) {
            #expect(CLLocationManager.isMonitoringAvailable(for: CLBeaconRegion.self) == !lacksRadio)
            #expect(CLLocationManager.isRangingAvailable() == !lacksRadio)
        }
    }

    @Test("A delegate that is set after the first callback was due receives the authorization once (M3)")
    func lateDelegate() async {
        let bench = await MonitorBench()
        for _ in 0..<500 {
            let manager = bench.manager()
            await bench.settleCallbacks()
            let witness = LocationWitness()
            manager.delegate = witness
            await bench.settleCallbacks()
            #expect(witness.take() == ["authorization 3"])
            manager.delegate = nil
            manager.delegate = witness
            await bench.settleCallbacks()
            #expect(witness.take() == [])
        }
    }

    @Test("A delegate that a task sets in its next statement receives the authorization once (M3)")
    func delegateInTheNextStatement() async {
        let bench = await MonitorBench()
        for _ in 0..<500 {
            let manager = bench.manager()
            let witness = LocationWitness()
            manager.delegate = witness
            await bench.settleCallbacks()
            #expect(witness.take() == ["authorization 3"])
            withExtendedLifetime(manager) {}
        }
    }

    @Test("A delegate can be set on many threads while callbacks are made")
    func delegateOnManyThreads() async {
        let bench = await MonitorBench()
        // Called from many threads at once, which is the purpose of the test.
        let manager = UnsafeTransfer(bench.manager())
        let witnesses = (0..<4).map { _ in LocationWitness() }
        manager.value.delegate = witnesses[0]
        await bench.settleCallbacks()
        await withTaskGroup { group in
            for witness in witnesses {
                group.addTask { for _ in 0..<500 { manager.value.delegate = witness } }
            }
            for _ in 0..<100 {
                await bench.center.setStatus(.denied)
                await bench.center.setStatus(.always)
            }
        }
        await bench.settleCallbacks()
        #expect(witnesses.map { $0.take().count }.reduce(0, +) == 201)
    }

    @Test("A region of another kind with the same identifier is a different region (M8)")
    func otherKinds() async {
        let bench = await MonitorBench()
        let manager = bench.manager()
        let witness = LocationWitness()
        manager.delegate = witness
        manager.startMonitoring(for: shop)
        await bench.time(1)
        await bench.hear(2)
        await bench.settleCallbacks()
        #expect(witness.take() == ["authorization 3", "started shop", "shop 1"])
        let circle = CLCircularRegion(
            center: CLLocationCoordinate2D(latitude: 0, longitude: 0), radius: 1, identifier: "shop")
        manager.requestState(for: circle)
        manager.stopMonitoring(for: circle)
        await bench.settleCallbacks()
        // The state of a circle is unknown, whatever the state of the beacon region with its identifier.
        #expect(witness.take() == ["shop 0"])
        #expect(manager.monitoredRegions == [shop])
        manager.requestState(for: shop)
        manager.stopMonitoring(for: CLBeaconRegion(uuid: UUID(), identifier: "shop"))
        await bench.settleCallbacks()
        #expect(manager.monitoredRegions == [])
    }

    @Test("Ranging that is started and stopped on two threads leaves the manager and the radio consistent (L1)")
    func startsAndStops() async {
        let bench = await MonitorBench()
        // Called from two threads at once, which is the purpose of the test.
        let manager = UnsafeTransfer(bench.manager())
        let constraint = CLBeaconIdentityConstraint(uuid: deployment)
        var torn = 0
        for _ in 0..<10_000 {
            DispatchQueue.concurrentPerform(iterations: 2) { thread in
                if thread == 0 {
                    manager.value.startRangingBeacons(satisfying: constraint)
                } else {
                    manager.value.stopRangingBeacons(satisfying: constraint)
                }
            }
            bench.center.queue.sync {}
            let isRanging = bench.radio.modes.last == .ranging
            if manager.value.rangedBeaconConstraints.isEmpty == isRanging { torn += 1 }
            manager.value.stopRangingBeacons(satisfying: constraint)
        }
        #expect(torn == 0)
    }

    @Test(
        "A region that is stopped while its events wait for the app's thread is not reported (L9)",
        arguments: [false, true])
    func stoppedInBetween(stops: Bool) async {
        let bench = await MonitorBench()
        let app = AppThread(bench.center)
        let witness = LocationWitness()
        await app.perform { app in
            app.manager.delegate = witness
            app.manager.startMonitoring(for: CLBeaconRegion(uuid: deployment, identifier: "shop"))
        }
        await bench.time(1)
        await bench.time(32)
        await app.perform { $0.makeCallbacks() }
        #expect(witness.take() == ["authorization 3", "started shop", "shop 2"])
        await bench.hear(33)
        await app.perform { app in
            if stops { app.manager.stopMonitoring(for: CLBeaconRegion(uuid: deployment, identifier: "shop")) }
            app.makeCallbacks()
        }
        #expect(witness.take() == (stops ? [] : ["shop 1", "enter shop"]))
        // A region that is started again is reported again.
        await app.perform { $0.manager.startMonitoring(for: CLBeaconRegion(uuid: deployment, identifier: "shop")) }
        await bench.settle()
        await bench.hear(34)
        await app.perform { $0.makeCallbacks() }
        #expect(witness.take() == ["started shop", "shop 1"])
    }

    @Test("An app that is busy for an hour receives the newest report of each constraint, and each entry and exit (B5)")
    func busy() async {
        let bench = await MonitorBench()
        let app = AppThread(bench.center)
        let witness = LocationWitness()
        await app.perform { app in
            app.manager.delegate = witness
            app.manager.startMonitoring(for: CLBeaconRegion(uuid: deployment, identifier: "shop"))
            app.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: deployment))
            app.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: deployment, major: 2))
        }
        await bench.time(0.5)
        // Near the beacon for five minutes of every ten.
        for second in 1...3605 {
            if second % 600 < 300 { await bench.hear(Double(second) + 0.2) }
            await bench.time(Double(second) + 0.5)
        }
        await app.perform { $0.makeCallbacks() }
        let words = witness.take()
        let changes = words.filter { !$0.hasPrefix("ranged") }
        #expect(
            changes == ["authorization 3", "started shop", "shop 1", "shop 2", "exit shop"]
                + Array(repeating: ["shop 1", "enter shop", "shop 2", "exit shop"], count: 5).joined()
                + ["shop 1", "enter shop"])
        #expect(words.filter { $0.hasPrefix("ranged") }.sorted() == ["ranged * 1", "ranged 2 0"])
    }

    @Test("If the app is not authorized, monitoring has one answer: its failure (L10)")
    func denied() async {
        let bench = await MonitorBench(status: .denied)
        let manager = bench.manager()
        let witness = LocationWitness()
        manager.delegate = witness
        manager.startMonitoring(for: shop)
        await bench.settleCallbacks()
        #expect(witness.take() == ["authorization 2", "failed shop 4"])
    }

    @Test("The managers of a thread share one run loop source (L11)")
    func oneSource() async {
        let bench = await MonitorBench()
        let app = AppThread(bench.center)
        let isWaiting = Locked([Bool]())
        await app.perform { app in
            app.makeCallbacks()
            for _ in 0..<100 { _ = BeaconCenter.withCurrent(bench.center) { CLLocationManager() } }
            let sources = Thread.current.threadDictionary.allValues.compactMap { $0 as? Timer }
            isWaiting.withLock { $0.append(sources.count == 1) }
            for source in sources { source.invalidate() }
            // A run loop with another source would wait for that one.
            let result = RunLoop.current.limitDate(forMode: .default) != nil
            isWaiting.withLock { $0.append(result) }
        }
        #expect(isWaiting.withLock { $0 } == [true, false])
    }

    @Test("The answer to a request for full accuracy follows after the call (L15)")
    @MainActor func fullAccuracy() async {
        let bench = await MonitorBench()
        let manager = bench.manager()
        let answers = Locked([Bool]())
        manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "museum") { error in
            answers.withLock { $0.append(error == nil) }
        }
        #expect(answers.withLock { $0 } == [])
        await bench.settleCallbacks()
        #expect(answers.withLock { $0 } == [true])
    }

    @Test("A request for deferred positions fails (C2)")
    func deferred() async {
        let bench = await MonitorBench()
        let manager = bench.manager()
        let witness = LocationWitness()
        manager.delegate = witness
        await bench.settleCallbacks()
        manager.allowDeferredLocationUpdates(untilTraveled: CLLocationDistanceMax, timeout: CLTimeIntervalMax)
        manager.disallowDeferredLocationUpdates()
        await bench.settleCallbacks()
        #expect(witness.take() == ["authorization 3", "deferred 11"])
    }
}

/// A delegate that records its calls as text.
final class LocationWitness: NSObject, CLLocationManagerDelegate, Sendable {
    private let words = Locked<[String]>([])

    /// Returns the calls since the last time.
    func take() -> [String] {
        words.withLock { words in
            defer { words = [] }
            return words
        }
    }

    private func note(_ word: String) { words.withLock { $0.append(word) } }

    private func code(_ error: (any Error)?) -> Int { (error as? CLError)?.code.rawValue ?? -1 }

    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        note("authorization \(manager.authorizationStatus.rawValue)")
    }

    func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
        note("started \(region.identifier)")
    }

    func locationManager(
        _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
    ) {
        note("failed \(region?.identifier ?? "-") \(code(error))")
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        note("\(region.identifier) \(state.rawValue)")
    }

    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
        note("enter \(region.identifier)")
    }

    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
        note("exit \(region.identifier)")
    }

    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        note("ranged \(beaconConstraint.major.map { "\($0)" } ?? "*") \(beacons.count)")
    }

    func locationManager(_ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?) {
        note("deferred \(code(error))")
    }
}

/// An app's own thread with a manager, whose run loop runs only when the test requests it.
final class AppThread: Sendable {
    /// The state that only jobs on the thread use.
    struct App {
        let center: BeaconCenter
        let manager: CLLocationManager

        /// Runs the run loop until no callback is under way.
        func makeCallbacks() {
            while true {
                center.queue.sync {}
                if center.hasNoCallbacksUnderWay { return }
                _ = RunLoop.current.run(mode: .default, before: Date())
            }
        }
    }

    private let jobs = Locked<[@Sendable (App) -> Void]>([])
    private let hasJob = DispatchSemaphore(value: 0)

    init(_ center: BeaconCenter) {
        let (jobs, hasJob) = (jobs, hasJob)
        Thread {
            let app = App(center: center, manager: BeaconCenter.withCurrent(center) { CLLocationManager() })
            while true {
                hasJob.wait()
                guard let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
                job(app)
            }
        }.start()
    }

    // The thread ends if it receives no job.
    deinit { hasJob.signal() }

    /// Runs a job on the thread, and returns after it has run.
    func perform(_ job: @escaping @Sendable (App) -> Void) async {
        await withCheckedContinuation { continuation in
            jobs.withLock {
                $0.append { app in
                    job(app)
                    continuation.resume()
                }
            }
            hasJob.signal()
        }
    }
}
