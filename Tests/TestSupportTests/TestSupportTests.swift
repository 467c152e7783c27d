import BeaconSupport
import Foundation
import Testing

@testable import TestSupport

@Suite("Helper processes of tests")
struct TestSupportTests {
    private static let running = Locked(0)
    private static let most = Locked(0)

    @Test("Tests with helpers run few at a time", .fewAtATime, arguments: 0..<20)
    func few(_ number: Int) async throws {
        let running = Self.running.withLock { running in
            running += 1
            return running
        }
        Self.most.withLock { $0 = max($0, running) }
        // The first test waits until another one runs, too.
        try await eventually("several run at a time") { Self.most.withLock { $0 } > 1 }
        Self.running.withLock { $0 -= 1 }
        #expect(running <= FewAtATime.most)
    }

    @Test("Tests leave no processes behind, even if the test process is killed", .fewAtATime)
    func orphans() async throws {
        let mark = "BEACON_TEST_SUPPORT=\(UUID())"
        let end = try #require(HelperGuard.start(endingWhatHas: mark))
        // A helper in a separate session that ignores SIGTERM and SIGHUP.
        let helper = try ChildProcess(
            "env", [mark, "setsid", "sh", "-c", "trap '' TERM HUP; while :; do sleep 60; done"])
        try await eventually("the helper runs") {
            let environment = try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(helper.id)/environ"))
            return environment?.range(of: Data(mark.utf8)) != nil
        }
        // The system does this when a process ends in any way.
        close(end)
        try await eventually("the helper has ended") { !helper.isRunning }
    }
}
