import BeaconApplications
import BeaconModel
import BeaconPrograms
import Foundation
import Testing

@testable import BeaconGateway

@Suite("Registry of a user's applications")
final class ApplicationRegistryTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
    private let application = ApplicationIdentity("com.example.shop")
    private let constraint = BeaconConstraint(uuid: ProximityUUID(high: 1, low: 2))
    private var directory: StateDirectory { StateDirectory(folder) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func registry() throws -> ApplicationRegistry {
        ApplicationRegistry(directory: directory)
    }

    /// Registers the application and gives it permission to be launched.
    private func register() throws {
        try AuthorizationPolicy(directory: directory).record(.init(status: .always), for: application)
        try FileLaunchStore(application, in: directory).register()
    }

    @Test("An application with monitor conditions and no regions is launched for them (M11)")
    func conditions() throws {
        try register()
        #expect(try registry().look().terminated.isEmpty)
        try FileMonitorStore(application, in: directory).update("shop") {
            $0 = [
                StoredCondition(
                    identifier: "c", subject: .beacons(self.constraint), lastEvent: .init(state: .unknown, time: 1))
            ]
        }
        let id = LaunchTrigger.ID("c", monitor: "shop")
        let found = try registry().look()
        #expect(found.problems.isEmpty && found.terminated.map { $0.triggers.map(\.id) } == [[id]])
        let trigger = try #require(
            try registry().store(
                .inside, at: Timestamp(nanoseconds: 5_000_000_000), of: id, constraint: constraint, for: application))
        #expect(trigger.launches(from: trigger.state, to: .inside))
        #expect(
            try FileMonitorStore(application, in: directory).load("shop").first?.pending
                == .init(state: .satisfied, time: 5))
    }

    @Test("A damaged file is reported once, and the application is launched for the rest (M9, L14)")
    func damage() throws {
        try register()
        try FileRegionStore(application, in: directory).update {
            $0 = [RegisteredRegion(identifier: "hall", constraint: self.constraint, state: .outside)]
        }
        let waiting = directory.folder(of: application).appendingPathComponent("waiting.json")
        try Data("{".utf8).write(to: waiting)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: waiting.path)
        let registry = try registry()
        let found = registry.look()
        #expect(found.damaged.count == 1 && found.problems.isEmpty)
        #expect(found.terminated.map { $0.triggers.map(\.state) } == [[.outside]])
        #expect(registry.look().damaged.isEmpty)
    }
}
