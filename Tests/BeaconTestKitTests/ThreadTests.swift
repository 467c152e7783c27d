import BeaconTestKit
import CoreLocation
import Testing

@Suite("Many threads")
@MainActor
struct ThreadTests {
    /// Managers that are called from many threads at once, which is the purpose of the test.
    private struct Shared: @unchecked Sendable {
        var managers: [CLLocationManager]
    }

    @Test("Calls from many threads at once leave the managers consistent, and time continues")
    func calls() async {
        let air = SimulatedAir()
        let first = Diary(air)
        let second = Diary(air)
        for minor in 0..<20 { air.place(.exhibit(UInt16(minor), at: 1 + Double(minor))) }
        let shared = Shared(managers: [first.manager, second.manager])
        let workers = DispatchGroup()
        for worker in 0..<8 {
            // A closure on a queue. Time does not wait for it as it would for a task.
            DispatchQueue.global().async(group: workers) {
                for round in 0..<50 {
                    let manager = shared.managers[(worker + round) % 2]
                    let constraint = CLBeaconIdentityConstraint(uuid: museum, major: 1, minor: UInt16(round % 20))
                    let region = CLBeaconRegion(beaconIdentityConstraint: constraint, identifier: "\(round % 15)")
                    manager.startRangingBeacons(satisfying: constraint)
                    manager.startMonitoring(for: region)
                    manager.requestState(for: region)
                    _ = manager.monitoredRegions.count + manager.rangedBeaconConstraints.count
                    _ = manager.authorizationStatus
                    manager.stopRangingBeacons(satisfying: constraint)
                    if round % 3 == 0 { manager.stopMonitoring(for: region) }
                }
            }
        }
        // Time passes at the same time, and managers are created and deallocated.
        for _ in 0..<10 {
            await air.advance(by: .seconds(1))
            _ = Diary(air)
        }
        await withCheckedContinuation { continuation in workers.notify(queue: .global()) { continuation.resume() } }
        await air.settle()
        #expect(first.manager.rangedBeaconConstraints.isEmpty)
        #expect(second.manager.rangedBeaconConstraints.isEmpty)
        #expect(first.manager.monitoredRegions.count <= 15)
        _ = first.take()
        first.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: museum))
        await air.advance(by: .seconds(2))
        #expect(first.beacons.count == 20)
    }

    @Test("A manager created on a separate thread makes its callbacks there, and the thread's run loop waits for them")
    func ownThread() async {
        let air = SimulatedAir()
        let outcome = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
            let thread = Thread {
                let diary = Diary(air)
                var wasCalledHere = false
                diary.onRange = { _ in wasCalledHere = !Thread.isMainThread && Thread.current.isExecuting }
                diary.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: museum))
                let end = Date(timeIntervalSinceNow: 120)
                while !wasCalledHere, Date() < end {
                    _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.05))
                }
                continuation.resume(returning: wasCalledHere)
            }
            thread.start()
            // Time passes until the thread has received its callback, however late it ran.
            Task {
                while !thread.isFinished {
                    await air.advance(by: .seconds(1))
                    try? await Task.sleep(for: .milliseconds(20))
                }
            }
        }
        #expect(outcome)
    }
}
