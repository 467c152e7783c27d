import BeaconSupport
import BeaconTestKit
import CoreLocation
import Observation
import Testing

/// Core Location's callbacks as a stream, as in apps' wrappers.
private final class RangingStream: NSObject, CLLocationManagerDelegate, Sendable {
    /// The app's form of a beacon.
    struct Reading: Sendable, Equatable {
        var minor: Int
        var proximity: CLProximity
    }

    let readings: AsyncStream<[Reading]>
    private let continuation: AsyncStream<[Reading]>.Continuation

    override init() {
        (readings, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        super.init()
    }

    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        continuation.yield(beacons.map { Reading(minor: $0.minor.intValue, proximity: $0.proximity) })
    }

    deinit { continuation.finish() }
}

/// A view model on the main actor that reads a stream.
@MainActor
@Observable
private final class ExhibitModel {
    private(set) var exhibit: Int?
    private(set) var updates = 0
    @ObservationIgnored private let manager = CLLocationManager()
    @ObservationIgnored private let stream = RangingStream()
    @ObservationIgnored private var task: Task<Void, Never>?

    func start() {
        manager.delegate = stream
        manager.requestWhenInUseAuthorization()
        manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: museum))
        task = Task { [weak self, readings = stream.readings] in
            for await beacons in readings {
                guard let self else { return }
                updates += 1
                exhibit = beacons.first { $0.proximity == .immediate || $0.proximity == .near }?.minor
            }
        }
    }

    func stop() { task?.cancel() }
}

/// A view model on the main actor that is itself the delegate, with callbacks that are not isolated.
@MainActor
@Observable
private final class DelegateModel: NSObject, CLLocationManagerDelegate {
    private(set) var isInside = false
    private(set) var status = CLAuthorizationStatus.notDetermined
    @ObservationIgnored private var manager: CLLocationManager?

    func start() {
        let manager = CLLocationManager()
        self.manager = manager
        manager.delegate = self
        manager.requestAlwaysAuthorization()
        manager.startMonitoring(for: CLBeaconRegion(uuid: museum, identifier: "museum"))
    }

    nonisolated func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        let status = manager.authorizationStatus
        Task { @MainActor in self.status = status }
    }

    nonisolated func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
        // A manager created on the main thread makes its callbacks there.
        MainActor.assumeIsolated { isInside = true }
    }

    nonisolated func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
        Task { @MainActor in isInside = false }
    }
}

/// A view model on the main actor with a CLMonitor.
@MainActor
@Observable
private final class MonitorModel {
    private(set) var states: [String: CLMonitor.Event.State] = [:]
    @ObservationIgnored private var task: Task<Void, Never>?

    func start() {
        task = Task {
            let monitor = await CLMonitor("museum")
            await monitor.add(
                CLMonitor.BeaconIdentityCondition(uuid: museum), identifier: "museum", assuming: .unsatisfied)
            do {
                for try await event in await monitor.events { states[event.identifier] = event.state }
            } catch {
                states = [:]
            }
        }
    }

    func stop() { task?.cancel() }
}

@Suite("Modern apps: view models, streams, monitors", .serialized)
@MainActor
struct ModernAppTests {
    @Test("A view model with a stream has read all ranging reports when the air has advanced")
    func stream() async {
        let air = SimulatedAir()
        let model = air.device.run { ExhibitModel() }
        model.start()
        let painting = air.place(SimulatedBeacon(uuid: museum, major: 1, minor: 7, at: .distance(20)))
        await air.advance(by: .seconds(10))
        #expect(model.exhibit == nil)
        let changes = Locked(0)
        withObservationTracking {
            _ = model.exhibit
        } onChange: {
            changes.withLock { $0 += 1 }
        }
        painting.move(toDistance: 0.3)
        await air.advance(by: .seconds(10))
        #expect(model.exhibit == 7)
        #expect(changes.withLock { $0 } == 1)
        // One a second, and each was read before the next.
        #expect(model.updates == 20)
        model.stop()
    }

    @Test("A view model that is the delegate has its new state when the air has advanced")
    func delegate() async {
        let air = SimulatedAir()
        let model = DelegateModel()
        air.device.run { model.start() }
        await air.advance(by: .seconds(60))
        #expect(model.status == .authorizedAlways)
        #expect(!model.isInside)
        let door = air.place(SimulatedBeacon(uuid: museum, major: 1, minor: 1, at: .distance(3)))
        await air.advance(by: .seconds(3))
        #expect(model.isInside)
        door.remove()
        await air.advance(by: .seconds(60))
        #expect(!model.isInside)
    }

    @Test("A view model with a CLMonitor has its states when the air has advanced")
    func monitor() async {
        let air = SimulatedAir()
        let model = MonitorModel()
        air.device.run { model.start() }
        await air.advance(by: .seconds(1))
        let door = air.place(SimulatedBeacon(uuid: museum, major: 1, minor: 1, at: .distance(3)))
        await air.advance(by: .seconds(3))
        #expect(model.states["museum"] == .satisfied)
        door.remove()
        await air.advance(by: .seconds(60))
        #expect(model.states["museum"] == .unsatisfied)
        model.stop()
    }
}
