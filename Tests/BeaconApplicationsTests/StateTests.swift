import BeaconApplications
import BeaconModel
import BeaconSupport
import Foundation
import Testing

@Suite("Applications' state on the disk")
final class StateTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())", isDirectory: true)
    private let reports = Locked<[StateError]>([])
    private let application = ApplicationIdentity("app")
    private let constraint = BeaconConstraint(uuid: ProximityUUID(high: 1, low: 2))

    private var directory: StateDirectory {
        StateDirectory(folder) { [reports] error in reports.withLock { $0.append(error) } }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func file(_ name: String) -> URL { folder.appendingPathComponent("applications/app/\(name)") }

    private func put(_ text: String, in name: String) throws {
        try FileManager.default.createDirectory(
            at: file(name).deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file(name))
    }

    private func text(_ name: String) -> String? { try? String(contentsOf: file(name), encoding: .utf8) }

    private func region(_ identifier: String, _ state: RegionState = .unknown) -> RegisteredRegion {
        RegisteredRegion(identifier: identifier, constraint: constraint, state: state)
    }

    private func identifiers(_ store: FileRegionStore) throws -> [String] { try store.load().map(\.identifier) }

    // MARK: - Regions

    @Test("Stored regions are read unchanged")
    func regions() throws {
        let store = FileRegionStore(application, in: directory)
        #expect(try store.load().isEmpty)
        let regions = [
            region("a/../b", .inside),
            RegisteredRegion(
                identifier: "b", constraint: BeaconConstraint(uuid: constraint.uuid, major: 1, minor: 65535),
                notifiesOnEntry: false, notifiesOnExit: false, notifiesEntryStateOnDisplay: true, state: .outside),
        ]
        try store.update { $0 = regions }
        #expect(try FileRegionStore(application, in: directory).load() == regions)
        try store.update { $0 = [] }
        #expect(try store.load().isEmpty)
    }

    @Test("A change without effect creates no file")
    func noTrace() throws {
        try FileRegionStore(application, in: directory).save([], replacing: [])
        try FileMonitorStore(application, in: directory).save([], replacing: [], as: "shop")
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test("Two processes of an application keep each other's regions and states (H4)")
    func twoProcesses() throws {
        // Each store locks the file itself, like another process.
        let first = FileRegionStore(application, in: directory)
        let second = FileRegionStore(application, in: directory)
        try first.save([region("a")], replacing: [])
        try second.save([region("b")], replacing: [])
        #expect(try identifiers(first) == ["a", "b"])
        try second.save([region("b", .inside)], replacing: [region("b")])
        try first.save([], replacing: [region("a")])
        #expect(try second.load() == [region("b", .inside)])
    }

    @Test("A new state does not restore a region that another process has stopped")
    func stoppedElsewhere() throws {
        let store = FileRegionStore(application, in: directory)
        try store.update { $0 = [self.region("a"), self.region("b")] }
        try store.save([region("b")], replacing: [region("a"), region("b")])
        try store.save([region("a", .inside), region("b")], replacing: [region("a"), region("b")])
        #expect(try identifiers(store) == ["b"])
    }

    @Test("Concurrent writers keep each other's regions (H4, M10)")
    func manyWriters() async throws {
        let (application, directory, constraint) = (application, directory, constraint)
        try await withThrowingTaskGroup { group in
            for writer in 0..<4 {
                group.addTask {
                    let store = FileRegionStore(application, in: directory)
                    for number in 0..<20 {
                        try store.save(
                            [RegisteredRegion(identifier: "\(writer) \(number)", constraint: constraint)], replacing: []
                        )
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try FileRegionStore(application, in: directory).load().count == 80)
        #expect(reports.withLock { $0.count } == 0)
    }

    @Test("A store holds the application's lock only while it changes regions (H4)")
    func lock() throws {
        let store = FileRegionStore(application, in: directory)
        try store.update { $0 = [self.region("a")] }
        let path = file("lock").path
        var isFree = true
        try store.update { regions in
            isFree = (try? FileLock(alone: path)) != nil
            regions = []
        }
        #expect(!isFree)
        #expect(try FileLock(alone: path) != nil)
    }

    // MARK: - Monitors

    private func condition(
        _ identifier: String, _ state: StoredCondition.State = .unknown, pending: StoredCondition.Event? = nil
    ) -> StoredCondition {
        StoredCondition(
            identifier: identifier, subject: .beacons(constraint), lastEvent: .init(state: state, time: 1),
            pending: pending)
    }

    @Test("Stored conditions are read unchanged, including those with invalid circles")
    func conditions() throws {
        let conditions = [
            condition(
                "a", .satisfied,
                pending: .init(
                    state: .unmonitored, time: 2.5,
                    refinement: BeaconIdentity(uuid: constraint.uuid, major: 3, minor: 4), diagnostics: 8)),
            StoredCondition(
                identifier: "b", subject: .circle(latitude: .infinity, longitude: -1.5, radius: 30),
                lastEvent: .init(state: .unmonitored, time: 3)),
        ]
        let store = FileMonitorStore(application, in: directory)
        try store.update("a shop/1") { $0 = conditions }
        let other = FileMonitorStore(application, in: directory)
        #expect(try other.load("a shop/1") == conditions)
        #expect(try other.load("a_shop/1").isEmpty)
        #expect(other.names == ["a shop/1"])
    }

    @Test("Two processes of an application keep each other's conditions (H4)")
    func twoMonitors() throws {
        let first = FileMonitorStore(application, in: directory)
        let second = FileMonitorStore(application, in: directory)
        try first.save([condition("a")], replacing: [], as: "shop")
        try second.save([condition("b")], replacing: [], as: "shop")
        try first.save([], replacing: [condition("a")], as: "shop")
        #expect(try first.load("shop") == [condition("b")])
    }

    // MARK: - Damage

    @Test("A damaged file of regions is set aside, reported once, and started again (M9)", arguments: ["", "{", "[]"])
    func damagedRegions(_ content: String) throws {
        try put(content, in: "regions.json")
        let store = FileRegionStore(application, in: directory)
        #expect(try store.load().isEmpty)
        #expect(try store.load().isEmpty)
        let errors = reports.withLock { $0 }
        #expect(errors.map(\.code) == [.damagedState])
        #expect(errors.first?.message.contains("regions.json.damaged") == true)
        #expect(text("regions.json.damaged") == content)
        try store.save([region("a")], replacing: [])
        #expect(try identifiers(FileRegionStore(application, in: directory)) == ["a"])
    }

    @Test("Regions whose file is damaged while the application runs are written again from memory (M9)")
    func damagedWhileRunning() throws {
        let store = FileRegionStore(application, in: directory)
        try store.save([region("a")], replacing: [])
        try put("{", in: "regions.json")
        try store.save([region("a"), region("b")], replacing: [region("a")])
        #expect(try identifiers(FileRegionStore(application, in: directory)) == ["a", "b"])
    }

    @Test("A damaged grant is set aside, and the application may ask again (M9)")
    func damagedGrant() throws {
        try put("", in: "authorization.json")
        let policy = try AuthorizationPolicy(
            directory: directory, administratorFile: folder.appendingPathComponent("administrator.json"))
        #expect(try policy.status(of: application) == .notDetermined)
        #expect(text("authorization.json.damaged") == "")
        try policy.record(.init(status: .always), for: application)
        #expect(try policy.status(of: application) == .always)
        #expect(reports.withLock { $0.count } == 1)
    }

    @Test("A damaged administrator's file is left unchanged, and nothing is granted (M9)")
    func damagedDecision() throws {
        let administrator = folder.appendingPathComponent("administrator.json")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for content in ["", #"{"app":"perhaps"}"#] {
            try Data(content.utf8).write(to: administrator)
            let error = #expect(throws: StateError.self) {
                _ = try AuthorizationPolicy(directory: self.directory, administratorFile: administrator)
            }
            #expect(content.isEmpty || error?.message.contains("app has \"perhaps\"; expected one of") == true)
            #expect(try Data(contentsOf: administrator) == Data(content.utf8))
        }
    }

    // MARK: - Authorization and identity

    @Test("A grant is stored with its reason, and an administrator's decision overrides it")
    func policy() throws {
        let administrator = folder.appendingPathComponent("administrator.json")
        let app = ApplicationIdentity("app")
        let open = try AuthorizationPolicy(directory: directory, administratorFile: administrator)
        #expect(try open.status(of: app) == .notDetermined)
        try open.record(.init(status: .whenInUse, reason: "to welcome you"), for: app)
        #expect(try open.status(of: app) == .whenInUse)
        #expect(
            try open.applications().map { "\($0.name) \($0.status) \($0.reason ?? "") \($0.isDecidedByAdministrator)" }
                == ["app whenInUse to welcome you false"])

        try Data(#"{"*":"denied","/opt/a/App":"always"}"#.utf8).write(to: administrator)
        let strict = try AuthorizationPolicy(directory: directory, administratorFile: administrator)
        #expect(try strict.status(of: app) == .denied)
        #expect(try strict.status(of: ApplicationIdentity("/opt/a/App")) == .always)
        try strict.record(.init(status: .always), for: app)
        #expect(try strict.status(of: app) == .denied)
    }

    @Test(
        "Names that cannot name a folder are changed so that they can",
        arguments: [
            ("../../etc", ".._.._etc"), ("..", "_.."), ("a b", "a_b"), ("/opt/a/App", "_opt-a-App"),
            ("/opt/a-b_c d/é", "_opt-a_2db_5fc_20d-_c3_a9"), ("/", "_"),
        ])
    func names(name: String, expected: String) {
        #expect(ApplicationIdentity(name).name == expected)
        #expect(ApplicationIdentity(expected).name == expected)
    }

    @Test("Executables with the same name and different paths are different applications (H4)")
    func paths() {
        let long = String(repeating: "/folder", count: 100)
        let paths = [
            "/opt/a/App", "/opt/b/App", "/opt/a-App", "/opt-a/App", "/opt_2da/App", "/opt/a/app", "/a\(long)",
            "/b\(long)",
        ]
        let names = paths.map { ApplicationIdentity($0).name }
        #expect(Set(names).count == paths.count, "\(names)")
        #expect(names.allSatisfy { $0.utf8.count <= 200 && !$0.contains("/") })
    }

    @Test("A process without a bundle identifier is identified by its executable's path (H4)")
    func current() throws {
        let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        #expect(ApplicationIdentity.current == ApplicationIdentity(Bundle.main.bundleIdentifier ?? path))
    }

    // MARK: - Files

    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int) & 0o777
    }

    @Test("Only the owner can read state files (L16, D7)")
    func permissions() throws {
        try FileRegionStore(application, in: directory).save([region("a")], replacing: [])
        #expect(try mode(file("regions.json").path) == 0o600)
        #expect(try mode(file("lock").path) == 0o600)
        for path in [folder.path, folder.path + "/applications", folder.path + "/applications/app"] {
            #expect(try mode(path) == 0o700)
        }
    }

    @Test("A replacement leaves no other file, and a failed one keeps the old content (L16)")
    func replacement() throws {
        let path = folder.path + "/inner/file"
        try AtomicFile.replace(path, with: Data("old".utf8))
        try AtomicFile.replace(path, with: Data("new".utf8))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "new")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/inner") == ["file"])
        // A file cannot replace a folder.
        #expect {
            try AtomicFile.replace(self.folder.path + "/inner", with: Data("x".utf8))
        } throws: { error in
            (error as? StateError)?.message.hasPrefix("cannot write \(self.folder.path)/inner: ") == true
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["inner"])
    }

    @Test("A file that was a link is replaced, and the link's target is not changed")
    func link() throws {
        let path = folder.path + "/file"
        try AtomicFile.replace(folder.path + "/victim", with: Data("old".utf8))
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.path + "/victim")
        try AtomicFile.replace(path, with: Data("new".utf8))
        #expect(try String(contentsOfFile: folder.path + "/victim", encoding: .utf8) == "old")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "new")
    }
}
