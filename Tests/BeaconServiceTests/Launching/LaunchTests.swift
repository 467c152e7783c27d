import BeaconEngine
import BeaconModel
import BeaconService
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

    private func keep(_ state: RegionState, at seconds: Int64) throws -> (
        region: RegisteredRegion, before: RegionState
    )? {
        try directory.keep(
            WaitingChange(
                identifier: "hall", constraint: CenterBench.everyone, state: state,
                time: Timestamp(nanoseconds: seconds * 1_000_000_000)),
            for: application)
    }

    @Test("An application with regions that may always know of beacons is registered; one without either is not")
    func registration() async throws {
        let bench = await bench(status: .whenInUse)
        await bench.center.startMonitoring(hall, for: bench.client)
        _ = await bench.words()
        #expect(try directory.launch(of: application) == nil)
        await bench.center.setStatus(.always)
        let launch = try #require(try directory.launch(of: application))
        #expect(launch.executable.hasPrefix("/") && FileManager.default.isExecutableFile(atPath: launch.executable))
        #expect(launch.arguments == Array(ProcessInfo.processInfo.arguments.dropFirst()))
        await bench.center.stopMonitoring("hall")
        _ = await bench.words()
        #expect(try directory.launch(of: application) == nil)
    }

    @Test("A center that never had a region leaves no state")
    func noTrace() async {
        _ = await bench()
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test("What happened while the application did not run is told at its launch, once")
    func missed() async throws {
        try regions.save([hall])
        #expect(try keep(.inside, at: 100)?.before == .outside)
        #expect(try keep(.inside, at: 101) == nil)
        #expect(try keep(.outside, at: 200)?.before == .inside)
        #expect(try keep(.inside, at: 300)?.before == .outside)

        let first = await bench()
        #expect(
            first.firstWords == [
                "authorization always", "hall inside", "enter hall", "hall outside", "exit hall", "hall inside",
                "enter hall", "radio poweredOn",
            ])
        #expect(first.center.snapshot.regions.map(\.state) == [.inside])
        #expect(try regions.load().map(\.state) == [.inside])
        #expect(try directory.waitingChanges(of: application).isEmpty)
        #expect(await bench().firstWords == ["authorization always", "radio poweredOn"])
    }

    @Test("From unknown only the state is told, and an enter that nobody wants is kept for the exit")
    func before() async throws {
        var quiet = hall
        quiet.notifiesOnEntry = false
        quiet.state = .unknown
        try regions.save([quiet])
        #expect(try keep(.inside, at: 100)?.before == .unknown)
        #expect(try keep(.outside, at: 200)?.before == .inside)
        #expect(
            await bench().firstWords
                == ["authorization always", "hall inside", "hall outside", "exit hall", "radio poweredOn"])
    }

    @Test("An application that may not know is told nothing, and what waits stays")
    func denied() async throws {
        try regions.save([hall])
        _ = try keep(.inside, at: 100)
        #expect(await bench(status: .denied).firstWords == ["authorization denied", "radio poweredOn"])
        #expect(try directory.waitingChanges(of: application).count == 1)
    }

    @Test("Managers that come soon after a launch are told as well, later ones not")
    func latecomers() async throws {
        try regions.save([hall])
        _ = try keep(.inside, at: 100)
        let bench = await bench()
        await bench.time(1000)
        await bench.time(1009)
        #expect(
            await bench.wordsOfNewClient() == ["authorization always", "radio poweredOn", "hall inside", "enter hall"])
        await bench.time(1011)
        #expect(await bench.wordsOfNewClient() == ["authorization always", "radio poweredOn"])
    }

    @Test("For an application that runs nothing is kept, since it hears for itself")
    func running() async throws {
        try regions.save([hall])
        #expect(try !directory.isRunning(application))
        let bench = await bench()
        #expect(try directory.isRunning(application))
        #expect(try keep(.inside, at: 100) == nil)
        withExtendedLifetime(bench) {}
    }

    @Test("Of very many changes the newest are kept")
    func bound() throws {
        try regions.save([hall])
        for count in 0..<150 { _ = try keep(count % 2 == 0 ? .inside : .outside, at: Int64(count)) }
        let waiting = try directory.waitingChanges(of: application)
        #expect(waiting.count == StateDirectory.mostWaitingChanges)
        #expect(waiting.last?.time == Timestamp(nanoseconds: 149_000_000_000))
    }
}
