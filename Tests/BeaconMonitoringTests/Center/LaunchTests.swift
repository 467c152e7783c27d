import BeaconApplications
import BeaconModel
import BeaconMonitoring
import Foundation
import Testing

@Suite("Launches of applications")
final class LaunchTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())", isDirectory: true)
    private let application = ApplicationIdentity("com.example.shop")
    private var directory: StateDirectory { StateDirectory(folder) }
    private var regions: FileRegionStore { FileRegionStore(application, in: directory) }

    private let hall = RegisteredRegion(identifier: "hall", constraint: CenterBench.everyone, state: .outside)

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func bench(status: AuthorizationStatus = .always) async -> CenterBench {
        await CenterBench(
            store: regions, status: status, launchStore: FileLaunchStore(application, in: directory))
    }

    private func store(_ state: RegionState, at seconds: Int64) throws -> LaunchTrigger? {
        try directory.store(
            state, at: Timestamp(nanoseconds: seconds * 1_000_000_000), of: .init("hall"),
            constraint: CenterBench.everyone, for: application)
    }

    @Test("An application is registered only if it has regions and is always authorized")
    func registration() async throws {
        let bench = await bench(status: .whenInUse)
        await bench.center.startMonitoring(hall, for: bench.client)
        await bench.finishWriting()
        #expect(try directory.launch(of: application) == nil)
        await bench.center.setStatus(.always)
        await bench.finishWriting()
        let launch = try #require(try directory.launch(of: application))
        #expect(launch.executable.hasPrefix("/") && FileManager.default.isExecutableFile(atPath: launch.executable))
        #expect(launch.arguments == Array(ProcessInfo.processInfo.arguments.dropFirst()))
        await bench.center.stopMonitoring("hall")
        await bench.finishWriting()
        #expect(try directory.launch(of: application) == nil)
    }

    @Test("A center that never had a region leaves no state")
    func noTrace() async {
        let bench = await bench()
        await bench.finishWriting()
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test("Changes that an application missed while it did not run are delivered once, at its launch")
    func missed() async throws {
        try regions.update { $0 = [hall] }
        #expect(try store(.inside, at: 100)?.state == .outside)
        #expect(try store(.inside, at: 101) == nil)
        #expect(try store(.outside, at: 200)?.state == .inside)
        #expect(try store(.inside, at: 300)?.state == .outside)

        let first = await bench()
        #expect(
            first.firstWords == [
                "authorization always", "hall inside", "enter hall", "hall outside", "exit hall", "hall inside",
                "enter hall", "missed changes ended", "radio poweredOn",
            ])
        #expect(first.center.snapshot.regions.map(\.state) == [.inside])
        await first.center.confirmMissedChanges()
        await first.finishWriting()
        #expect(try regions.load().map(\.state) == [.inside])
        #expect(try directory.pendingEvents(of: application).isEmpty)
        #expect(await bench().firstWords == ["authorization always", "radio poweredOn"])
    }

    @Test("From unknown only the state is delivered, and an entry that is not requested still enables the exit")
    func before() async throws {
        var quiet = hall
        quiet.notifiesOnEntry = false
        quiet.state = .unknown
        try regions.update { $0 = [quiet] }
        #expect(try store(.inside, at: 100)?.state == .unknown)
        #expect(try store(.outside, at: 200)?.state == .inside)
        #expect(
            await bench().firstWords
                == [
                    "authorization always", "hall inside", "hall outside", "exit hall", "missed changes ended",
                    "radio poweredOn",
                ])
    }

    @Test("An unauthorized application receives neither entries nor exits, and pending events stay")
    func denied() async throws {
        try regions.update { $0 = [hall] }
        _ = try store(.inside, at: 100)
        #expect(
            await bench(status: .denied).firstWords == [
                "authorization denied", "failed hall denied", "hall unknown", "radio poweredOn",
            ])
        #expect(try directory.pendingEvents(of: application).count == 1)
    }

    @Test("Managers created soon after a launch also receive the missed changes, later ones do not")
    func latecomers() async throws {
        try regions.update { $0 = [hall] }
        _ = try store(.inside, at: 100)
        let bench = await bench()
        await bench.center.confirmMissedChanges()
        await bench.time(1000)
        await bench.time(1009)
        let soon = await bench.addClient().log
        #expect(
            soon.take() == [
                "authorization always", "radio poweredOn", "hall inside", "enter hall", "missed changes ended",
            ])
        await bench.time(1011)
        let late = await bench.addClient().log
        #expect(late.take() == ["authorization always", "radio poweredOn"])
    }

    @Test("A client without region events leaves the missed changes to a later client, however late it is")
    func otherClients() async throws {
        try regions.update { $0 = [hall] }
        _ = try store(.inside, at: 100)
        let bench = await CenterBench(
            store: regions, launchStore: FileLaunchStore(application, in: directory), asksForMissedChanges: false)
        #expect(bench.firstWords == ["authorization always", "radio poweredOn"])
        // The beacon is there all the time.
        for second in [1000.0, 1025, 1050, 1060] { await bench.hear(second) }
        #expect(try directory.pendingEvents(of: application).count == 1)
        let manager = await bench.addClient().log
        #expect(
            manager.take() == [
                "authorization always", "radio poweredOn", "hall inside", "enter hall", "missed changes ended",
            ])
    }

    @Test("If an application ends before its callbacks, the next launch delivers everything")
    func crash() async throws {
        try regions.update { $0 = [hall] }
        _ = try store(.inside, at: 100)
        let expected = [
            "authorization always", "hall inside", "enter hall", "missed changes ended", "radio poweredOn",
        ]
        do {
            let first = await bench()
            #expect(first.firstWords == expected)
            await first.finishWriting()
        }
        #expect(try directory.pendingEvents(of: application).count == 1)
        let second = await bench()
        #expect(second.firstWords == expected)
        await second.center.confirmMissedChanges()
        await second.finishWriting()
        #expect(try directory.pendingEvents(of: application).isEmpty)
    }

    @Test("Newer changes of a region replace missed ones, also on the disk")
    func superseded() async throws {
        try regions.update { $0 = [hall] }
        _ = try store(.inside, at: 100)
        let bench = await CenterBench(
            store: regions, launchStore: FileLaunchStore(application, in: directory), asksForMissedChanges: false)
        await bench.time(1000)
        await bench.time(1031)
        #expect(await bench.words() == ["hall outside", "exit hall"])
        let manager = await bench.addClient().log
        #expect(manager.take() == ["authorization always", "radio poweredOn"])
        await bench.finishWriting()
        #expect(try directory.pendingEvents(of: application).isEmpty)
        #expect(try regions.load().map(\.state) == [.outside])
    }

    @Test("While the regions cannot be saved, the missed changes stay on the disk")
    func unsaved() async throws {
        let full = CountingStore()
        try full.update { $0 = [hall] }
        try regions.update { $0 = [hall] }
        _ = try store(.inside, at: 100)
        let bench = await CenterBench(store: full, launchStore: FileLaunchStore(application, in: directory))
        full.fill(true)
        await bench.center.confirmMissedChanges()
        await bench.finishWriting()
        #expect(try directory.pendingEvents(of: application).count == 1)
    }

    @Test("Nothing is stored for a running application, since it receives events itself")
    func running() async throws {
        try regions.update { $0 = [hall] }
        #expect(try !directory.isRunning(application))
        let bench = await bench()
        #expect(try directory.isRunning(application))
        #expect(try store(.inside, at: 100) == nil)
        withExtendedLifetime(bench) {}
    }

    @Test("An application with monitor conditions but no regions is registered too")
    func conditions() async throws {
        let bench = await bench()
        #expect(try directory.launch(of: application) == nil)
        let condition = bench.center.makeConditionID()
        await bench.center.startMonitoring(condition, CenterBench.everyone, client: bench.client)
        await bench.finishWriting()
        #expect(try directory.launch(of: application) != nil)
        await bench.center.stopMonitoring(condition)
        await bench.finishWriting()
        #expect(try directory.launch(of: application) == nil)
    }

    @Test("A damaged file of regions is set aside, and the application's regions are stored again")
    func damagedRegions() async throws {
        try regions.update { $0 = [hall] }
        let file = directory.folder(of: application).appendingPathComponent("regions.json")
        try Data().write(to: file)
        let bench = await bench()
        #expect(bench.center.snapshot.regions.isEmpty)
        await bench.center.startMonitoring(hall, for: bench.client)
        await bench.finishWriting()
        #expect(try regions.load().map(\.identifier) == ["hall"])
    }

    @Test("A damaged grant leaves the application free to ask again")
    func damagedGrant() async throws {
        let file = directory.folder(of: application).appendingPathComponent("authorization.json")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data().write(to: file)
        var configuration = CenterConfiguration(application: application, store: regions)
        configuration.policy = try AuthorizationPolicy(
            directory: directory, administratorFile: folder.appendingPathComponent("none.json"))
        let center = BeaconCenter(configuration)
        #expect(center.snapshot.authorization == .notDetermined)
        await center.request(.always)
        // The disk is read first, since another process may have decided.
        await withCheckedContinuation { continuation in center.performOnDisk { continuation.resume() } }
        await center.catchUp()
        #expect(center.snapshot.authorization == .always)
    }

    @Test("A request does not change an administrator's decision")
    func administrator() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let administrator = folder.appendingPathComponent("administrator.json")
        try Data(#"{"com.example.shop":"whenInUse"}"#.utf8).write(to: administrator)
        var configuration = CenterConfiguration(application: application, store: MemoryRegionStore())
        configuration.policy = try AuthorizationPolicy(directory: directory, administratorFile: administrator)
        let center = BeaconCenter(configuration)
        await center.request(.always)
        #expect(center.snapshot.authorization == .whenInUse)
    }

    @Test("Two centers of one application keep each other's regions")
    func twoProcesses() async throws {
        let first = await bench()
        let second = await bench()
        func region(_ identifier: String) -> RegisteredRegion {
            RegisteredRegion(identifier: identifier, constraint: CenterBench.everyone)
        }
        await first.center.startMonitoring(region("a"), for: first.client)
        await first.finishWriting()
        await second.center.startMonitoring(region("b"), for: second.client)
        await second.finishWriting()
        #expect(try regions.load().map(\.identifier) == ["a", "b"])
        await second.hear(1)
        await second.finishWriting()
        await first.center.stopMonitoring("a")
        await first.finishWriting()
        #expect(try regions.load().map { "\($0.identifier) \($0.state)" } == ["b inside"])
        #expect(try directory.launch(of: application) != nil)
    }
}
