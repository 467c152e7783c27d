import BeaconEngine
import BeaconModel
import BeaconService
import Foundation
import Testing

@Suite("State on disk")
final class StateTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())", isDirectory: true)
    private var directory: StateDirectory { StateDirectory(folder) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    @Test("Regions are read as they were written")
    func regions() throws {
        let store = FileRegionStore(ApplicationIdentity("com.example.museum"), in: directory)
        #expect(try store.load().isEmpty)
        let uuid = ProximityUUID(high: 1, low: 2)
        let regions = [
            RegisteredRegion(identifier: "a/../b", constraint: BeaconConstraint(uuid: uuid), state: .inside),
            RegisteredRegion(
                identifier: "b", constraint: BeaconConstraint(uuid: uuid, major: 1, minor: 65535),
                notifiesOnEntry: false, notifiesOnExit: false, notifiesEntryStateOnDisplay: true, state: .outside),
        ]
        try store.save(regions)
        #expect(try store.load() == regions)
        try store.save([])
        #expect(try store.load().isEmpty)
    }

    @Test("A damaged file is told, and left as it is")
    func damage() throws {
        let store = FileRegionStore(ApplicationIdentity("app"), in: directory)
        try store.save([])
        let file = folder.appendingPathComponent("applications/app/regions.json")
        try Data("{".utf8).write(to: file)
        #expect {
            _ = try store.load()
        } throws: { error in
            (error as? ServiceError)?.code == .damagedState
        }
        #expect(try Data(contentsOf: file) == Data("{".utf8))
    }

    @Test(
        "Names that cannot name a file are made to",
        arguments: [("../../etc", ".._.._etc"), ("..", "_.."), ("a b", "a_b")])
    func names(name: String, expected: String) {
        #expect(ApplicationIdentity(name).name == expected)
    }

    @Test("What was granted is remembered, with its reason, and an administrator's decision stands above it")
    func policy() throws {
        let administrator = folder.appendingPathComponent("administrator.json")
        let app = ApplicationIdentity("app", usageDescription: "to greet you")
        let open = try AuthorizationPolicy(directory: directory, administratorFile: administrator)
        #expect(try open.status(of: app) == .notDetermined)
        try open.record(.whenInUse, for: app)
        #expect(try open.status(of: app) == .whenInUse)
        #expect(
            try open.applications().map { "\($0.name) \($0.status) \($0.reason ?? "") \($0.isDecidedByAdministrator)" }
                == ["app whenInUse to greet you false"])

        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(#"{"*":"denied","other":"always"}"#.utf8).write(to: administrator)
        let strict = try AuthorizationPolicy(directory: directory, administratorFile: administrator)
        #expect(try strict.status(of: app) == .denied)
        #expect(try strict.status(of: ApplicationIdentity("other")) == .always)
        try strict.record(.always, for: app)
        #expect(try strict.status(of: app) == .denied)

        try Data(#"{"app":"perhaps"}"#.utf8).write(to: administrator)
        #expect(throws: ServiceError.self) {
            _ = try AuthorizationPolicy(directory: self.directory, administratorFile: administrator)
        }
    }

    @Test("A center does not write over a file that it could not read")
    func damagedRegions() async throws {
        let application = ApplicationIdentity("app")
        let store = FileRegionStore(application, in: directory)
        try store.save([])
        let file = folder.appendingPathComponent("applications/app/regions.json")
        try Data("{".utf8).write(to: file)
        let bench = await CenterBench(store: store)
        await bench.center.startMonitoring(
            RegisteredRegion(identifier: "hall", constraint: CenterBench.everyone), for: bench.client)
        await bench.hear(1)
        _ = await bench.words()
        _ = await bench.words()
        #expect(bench.center.snapshot.regions.count == 1)
        #expect(try Data(contentsOf: file) == Data("{".utf8))
    }

    @Test("What an administrator decided, asking does not change")
    func administrator() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let administrator = folder.appendingPathComponent("administrator.json")
        try Data(#"{"app":"whenInUse"}"#.utf8).write(to: administrator)
        let center = BeaconCenter(
            CenterConfiguration(
                application: ApplicationIdentity("app"), store: MemoryRegionStore(),
                policy: try AuthorizationPolicy(directory: directory, administratorFile: administrator)))
        await center.request(.always)
        #expect(center.snapshot.authorization == .whenInUse)
    }
}
