import BeaconApplications
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import Foundation
import TestSupport
import Testing

@Suite("Authorization")
struct AuthorizationTests {
    /// Each status, request and answer.
    static let cases: [(AuthorizationStatus, AuthorizationRequest, RequestAnswer)] =
        AuthorizationStatus.allCases.flatMap { status in
            [AuthorizationRequest.whenInUse, .always].flatMap { request in
                RequestAnswer.allCases.map { (status, request, $0) }
            }
        }

    /// Returns the status after a granted request, according to Apple's documentation.
    private func granted(_ request: AuthorizationRequest, from status: AuthorizationStatus) -> AuthorizationStatus {
        switch status {
        case .notDetermined: request == .always ? .always : .whenInUse
        case .whenInUse: request == .always ? .always : .whenInUse
        case .always, .denied, .restricted: status
        }
    }

    @Test("A request is granted, refused or put to the user, from each status", arguments: cases)
    func requests(status: AuthorizationStatus, request: AuthorizationRequest, answer: RequestAnswer) async {
        let bench = await CenterBench(status: status)
        await bench.center.set(answer)
        await bench.center.request(request)
        let wanted = granted(request, from: status)
        switch answer {
        case .grant:
            #expect(bench.center.snapshot.authorization == wanted)
            #expect(await bench.words() == (wanted == status ? [] : ["authorization \(wanted)"]))
        case .deny:
            let refused = status == .notDetermined ? AuthorizationStatus.denied : status
            #expect(bench.center.snapshot.authorization == refused)
            #expect(await bench.words() == (refused == status ? [] : ["authorization denied"]))
        case .ask:
            #expect(bench.center.snapshot.authorization == status)
            #expect(bench.center.snapshot.isAsking == (wanted != status))
            #expect(await bench.words() == (wanted == status ? [] : ["authorization \(status), asking"]))
        }
        #expect(answer == .ask || !bench.center.snapshot.isAsking)
    }

    @Test("Each answer of the user ends the wait, and is delivered once", arguments: AuthorizationStatus.allCases)
    func answers(_ answer: AuthorizationStatus) async {
        for before in [AuthorizationStatus.notDetermined, .whenInUse] {
            let bench = await CenterBench(status: before)
            await bench.center.set(.ask)
            await bench.center.request(.always)
            // Another request while the user is being asked changes nothing.
            await bench.center.request(.always)
            await bench.center.request(.whenInUse)
            #expect(await bench.words() == ["authorization \(before), asking"])
            await bench.center.setStatus(answer)
            #expect(bench.center.snapshot.authorization == answer)
            #expect(!bench.center.snapshot.isAsking)
            #expect(await bench.words() == ["authorization \(answer)"])
        }
    }

    @Test("A user who refuses \"always\" and allows the rest is not asked for it again")
    func refusedAlways() async {
        for answer in RequestAnswer.allCases {
            let bench = await CenterBench(status: .notDetermined)
            await bench.center.set(.ask)
            await bench.center.request(.always)
            await bench.center.setStatus(.whenInUse)
            _ = await bench.words()
            await bench.center.set(answer)
            await bench.center.request(.always)
            #expect(bench.center.snapshot.authorization == .whenInUse)
            #expect(await bench.words().isEmpty)
        }
    }

    @Test("An app with a lesser pending request can ask for more")
    func raised() async {
        let bench = await CenterBench(status: .notDetermined)
        await bench.center.set(.ask)
        await bench.center.request(.whenInUse)
        await bench.center.request(.always)
        await bench.center.setStatus(.always)
        #expect(bench.center.snapshot.authorization == .always)
        #expect(await bench.words().last == "authorization always")
    }

    @Test("No beacon is heard while the user is being asked, and all are heard after the answer")
    func waiting() async {
        let bench = await CenterBench(status: .notDetermined)
        await bench.center.set(.ask)
        await bench.center.startMonitoring(
            RegisteredRegion(identifier: "hall", constraint: CenterBench.everyone), for: bench.client)
        await bench.center.request(.whenInUse)
        _ = await bench.words()
        await bench.hear(1)
        await bench.time(2)
        #expect(await bench.words().isEmpty)
        await bench.center.setStatus(.whenInUse)
        await bench.hear(3)
        await bench.time(4)
        let words = await bench.words()
        #expect(words.first == "authorization whenInUse")
        #expect(words.contains { $0.contains("inside") && $0.contains("hall") }, "\(words)")
    }
}

/// The effects of several processes of an application, and of a command, on its stored permission.
@Suite("Authorization on the disk")
final class StoredAuthorizationTests: Sendable {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())", isDirectory: true)
    private let application = ApplicationIdentity("com.example.shop")

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func policy(_ answer: RequestAnswer = .ask, strict: Bool = false) throws -> AuthorizationPolicy {
        try AuthorizationPolicy(
            directory: StateDirectory(folder), administratorFile: folder.appendingPathComponent("none.json"),
            environment: ["BEACON_AUTHORIZATION": answer.rawValue + (strict ? ",strict" : "")], canAskInTerminal: false)
    }

    private func center(_ policy: AuthorizationPolicy, _ application: ApplicationIdentity? = nil) -> BeaconCenter {
        BeaconCenter(
            CenterConfiguration(
                application: application ?? self.application, store: MemoryRegionStore(), policy: policy))
    }

    private func finish(_ center: BeaconCenter) async {
        await withCheckedContinuation { continuation in center.performOnDisk { continuation.resume() } }
        await center.catchUp()
    }

    /// Returns once a center has another status, however busy the machine is.
    private func wait(for status: AuthorizationStatus, of center: BeaconCenter) async throws {
        try await eventually("the status \(status)") { center.snapshot.authorization == status }
    }

    /// Returns processes of the application that have requested permission.
    private func askers(_ requests: AuthorizationRequest...) async throws -> [BeaconCenter] {
        var centers: [BeaconCenter] = []
        for request in requests {
            let center = center(try policy())
            await center.request(request)
            await finish(center)
            centers.append(center)
        }
        return centers
    }

    @Test("Others can answer a pending request as long as the app lives")
    func pending() async throws {
        let policy = try policy()
        do {
            let center = center(policy)
            await center.request(.always)
            await finish(center)
            await finish(center)
            #expect(try policy.applications().map(\.asksFor) == [.always])
            try policy.record(.init(status: .whenInUse, isAlwaysRefused: true), for: application)
            try await wait(for: .whenInUse, of: center)
            #expect(!center.snapshot.isAsking)
            #expect(try policy.applications().map(\.asksFor) == [nil])
            await center.request(.always)
            #expect(!center.snapshot.isAsking)
            // A later decision also takes effect at once.
            try policy.record(.init(status: .denied), for: application)
            try await wait(for: .denied, of: center)
        }
        #expect(try self.policy(.grant).applications().map(\.status) == [.denied])
    }

    @Test("An answer to one process of an app is an answer to all of them")
    func processes() async throws {
        let centers = try await askers(.whenInUse, .whenInUse)
        await centers[0].setStatus(.whenInUse)
        try await wait(for: .whenInUse, of: centers[1])
        try await eventually { !centers[1].snapshot.isAsking }
        await finish(centers[1])
        #expect(try policy().applications().map(\.asksFor) == [nil])
    }

    @Test("A decision since the app's start overrides an automatic answer", arguments: RequestAnswer.allCases)
    func decidedInBetween(_ answer: RequestAnswer) async throws {
        let policy = try policy(answer)
        let center = center(policy)
        // By command, before the app has a folder that could be watched.
        try policy.record(.init(status: .denied), for: application)
        await center.request(.always)
        await finish(center)
        await finish(center)
        try await wait(for: .denied, of: center)
        #expect(try policy.permission(of: application)?.status == .denied)
        #expect(!center.snapshot.isAsking)
    }

    @Test("A pending process is found while another has its answer")
    func severalRequests() async throws {
        let centers = try await askers(.whenInUse, .always)
        #expect(try policy().applications().map(\.asksFor) == [.always])
        await centers[0].setStatus(.whenInUse)
        await finish(centers[0])
        try await wait(for: .whenInUse, of: centers[1])
        #expect(centers[1].snapshot.isAsking)
        #expect(try policy().applications().map(\.asksFor) == [.always])
    }

    @Test("If a request cannot be stored and there is no terminal, the app may ask again")
    func unstorable() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let center = center(try policy())
        await finish(center)
        // A file in place of the applications folder.
        try Data().write(to: folder.appendingPathComponent("applications"))
        for _ in 1...2 {
            await center.request(.always)
            await finish(center)
            #expect(!center.snapshot.isAsking && center.snapshot.authorization == .notDetermined)
        }
    }

    @Test("The stricter of two rules for one application counts, by identifier or by path")
    func rules() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("administrator.json")
        try Data(
            #"{"/opt/x/Museum":"deny","com.example.museum":"grant","*":"always","_opt-x-Museum":{"strict":true}}"#.utf8
        ).write(to: file)
        let policy = try AuthorizationPolicy(
            directory: StateDirectory(folder), administratorFile: file, environment: [:], canAskInTerminal: false)
        let museum = ApplicationIdentity("com.example.museum", executable: "/opt/x/Museum")
        #expect(policy.decision(for: museum) == nil)
        #expect(policy.answer(for: museum) == .deny)
        #expect(policy.isStrict(for: museum))
        #expect(policy.answer(for: ApplicationIdentity("com.example.museum")) == .grant)
        #expect(policy.decision(for: ApplicationIdentity("com.example.other")) == .always)
    }

    @Test("A strict policy ignores a request without its reasons, as iOS does")
    func strict() async throws {
        var plist = InfoPlist()
        for (always, whenInUse, wanted) in [
            (nil, nil, AuthorizationStatus.notDetermined), ("to welcome you", nil, .notDetermined),
            (nil, "to guide you", .notDetermined), ("to welcome you", "to guide you", .always),
        ] {
            plist.alwaysReason = always
            plist.whenInUseReason = whenInUse
            let identity = ApplicationIdentity("com.example.\(UUID())", infoPlist: plist)
            let center = center(try policy(.grant, strict: true), identity)
            await center.request(.always)
            await finish(center)
            #expect(center.snapshot.authorization == wanted, "\(always ?? "-") \(whenInUse ?? "-")")
        }
    }
}

extension BeaconCenter {
    func set(_ answer: RequestAnswer) { self.answer = answer }

    /// Returns after all work that was submitted to the center before.
    func catchUp() {}
}
