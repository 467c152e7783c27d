import BeaconApplications
import BeaconModel
import BeaconSupport
import Foundation
import Testing

@Suite("Launch registration and missed events")
final class LaunchingTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())", isDirectory: true)
    private let application = ApplicationIdentity("com.example.shop")
    private let constraint = BeaconConstraint(uuid: ProximityUUID(high: 1, low: 2))
    private let reports = Locked<[StateError]>([])

    private var directory: StateDirectory {
        StateDirectory(folder) { [reports] error in reports.withLock { $0.append(error) } }
    }
    private var regions: FileRegionStore { FileRegionStore(application, in: directory) }
    private var monitors: FileMonitorStore { FileMonitorStore(application, in: directory) }
    private var hall: RegisteredRegion {
        RegisteredRegion(identifier: "hall", constraint: constraint, state: .outside)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func file(_ name: String) -> URL { directory.folder(of: application).appendingPathComponent(name) }

    private func store(_ state: RegionState, at seconds: Int64, of id: LaunchTrigger.ID = .init("hall")) throws
        -> LaunchTrigger?
    {
        try directory.store(
            state, at: Timestamp(nanoseconds: seconds * 1_000_000_000), of: id, constraint: constraint,
            for: application)
    }

    // MARK: - Registration

    @Test("A registration that could not be written is written with the next attempt (L3)")
    func failedWrite() throws {
        let store = FileLaunchStore(application, in: directory)
        // A file cannot replace a folder, not even for root.
        try FileManager.default.createDirectory(at: file("launch.json"), withIntermediateDirectories: true)
        #expect(throws: StateError.self) { try store.register() }
        try FileManager.default.removeItem(at: file("launch.json"))
        try store.register()
        #expect(try directory.launch(of: application) == ApplicationLaunch.current)
    }

    @Test("A registration stays while another process has regions or conditions, and is removed with the last (H4)")
    func unused() throws {
        let store = FileLaunchStore(application, in: directory)
        try store.register()
        try regions.update { $0 = [self.hall] }
        try monitors.update("shop") {
            $0 = [
                StoredCondition(
                    identifier: "c", subject: .beacons(self.constraint), lastEvent: .init(state: .unknown, time: 1))
            ]
        }
        try store.unregisterIfUnused()
        #expect(try directory.launch(of: application) != nil)
        try regions.update { $0 = [] }
        try store.unregisterIfUnused()
        #expect(try directory.launch(of: application) != nil)
        try monitors.update("shop") { $0 = [] }
        try store.unregisterIfUnused()
        #expect(try directory.launch(of: application) == nil)
        try store.register()
        #expect(try directory.launch(of: application) != nil)
        try store.unregister()
        #expect(try directory.launch(of: application) == nil)
    }

    @Test("A damaged registration is set aside, and registering writes a new one (M9)")
    func damagedRegistration() throws {
        let store = FileLaunchStore(application, in: directory)
        try store.register()
        try Data("{".utf8).write(to: file("launch.json"))
        #expect(try directory.launch(of: application) == nil)
        #expect(reports.withLock { $0.count } == 1)
        try store.register()
        #expect(try directory.launch(of: application) != nil)
    }

    // MARK: - Missed events

    @Test("Events of an application that does not run are stored until it runs and clears them")
    func missed() throws {
        try regions.update { $0 = [self.hall] }
        #expect(try store(.inside, at: 100)?.state == .outside)
        #expect(try store(.inside, at: 101) == nil)
        #expect(try store(.outside, at: 200)?.state == .inside)
        let launches = FileLaunchStore(application, in: directory)
        #expect(try launches.begin().map(\.state) == [.inside, .outside])
        #expect(try store(.inside, at: 300) == nil, "it is running and receives events itself")
        try launches.clear()
        #expect(try FileLaunchStore(application, in: directory).begin().isEmpty)
    }

    @Test("An event of a region that now has other beacons is not stored")
    func otherBeacons() throws {
        try regions.update { $0 = [self.hall] }
        #expect(
            try directory.store(
                .inside, at: Timestamp(nanoseconds: 1), of: .init("hall"),
                constraint: BeaconConstraint(uuid: constraint.uuid, major: 1), for: application) == nil)
    }

    @Test("If there are too many events, the newest are kept")
    func bound() throws {
        try regions.update { $0 = [self.hall] }
        for count in 0..<150 { _ = try store(count % 2 == 0 ? .inside : .outside, at: Int64(count)) }
        let events = try directory.pendingEvents(of: application)
        #expect(events.count == StateDirectory.maximumPendingEvents)
        #expect(events.last?.time == Timestamp(nanoseconds: 149_000_000_000))
    }

    @Test("Damaged events are set aside: the application starts without them, and later ones are stored (L14)")
    func damagedEvents() throws {
        try regions.update { $0 = [self.hall] }
        _ = try store(.inside, at: 100)
        try Data("[{}".utf8).write(to: file("waiting.json"))
        #expect(try directory.triggers(of: application).map(\.state) == [.outside])
        #expect(reports.withLock { $0.map(\.code) } == [.damagedState])
        #expect(try store(.inside, at: 200)?.state == .outside)
        #expect(try FileLaunchStore(application, in: directory).begin().map(\.state) == [.inside])
    }

    @Test("A monitor's condition is a trigger, and its missed event becomes its pending event (M11)")
    func conditions() throws {
        try regions.update { $0 = [self.hall] }
        try monitors.update("shop") {
            $0 = [
                StoredCondition(
                    identifier: "c", subject: .beacons(self.constraint), lastEvent: .init(state: .unsatisfied, time: 1)),
                StoredCondition(
                    identifier: "d", subject: .circle(latitude: 1, longitude: 2, radius: 3),
                    lastEvent: .init(state: .unknown, time: 1)),
            ]
        }
        let id = LaunchTrigger.ID("c", monitor: "shop")
        #expect(try directory.triggers(of: application).map(\.id) == [.init("hall"), id])
        let trigger = try #require(try store(.inside, at: 100, of: id))
        #expect(trigger.launches(from: trigger.state, to: .inside))
        #expect(try store(.inside, at: 101, of: id) == nil)
        let condition = try #require(try monitors.load("shop").first)
        #expect(condition.pending == .init(state: .satisfied, time: 100))
        #expect(condition.lastEvent.state == .unsatisfied)
        #expect(try FileLaunchStore(application, in: directory).begin().isEmpty)
    }

    @Test("A change from unknown to outside starts no application, and neither does an unrequested event")
    func triggers() {
        var trigger = LaunchTrigger(id: .init("hall"), constraint: constraint, state: .unknown)
        #expect(trigger.launches(from: .unknown, to: .inside))
        #expect(!trigger.launches(from: .unknown, to: .outside))
        #expect(trigger.launches(from: .inside, to: .outside))
        trigger.notifiesOnEntry = false
        trigger.notifiesOnExit = false
        #expect(!trigger.launches(from: .outside, to: .inside))
        #expect(!trigger.launches(from: .inside, to: .outside))
    }
}
