import BeaconSupport
import Foundation
import Testing

@testable import TestSupport

@Suite("Tests with helpers")
struct TestSupportTests {
    private static let running = Locked(0)
    private static let most = Locked(0)

    @Test("run few at a time", .fewAtATime, arguments: 0..<20)
    func few(_ number: Int) async throws {
        let running = Self.running.withLock { running in
            running += 1
            return running
        }
        Self.most.withLock { $0 = max($0, running) }
        // The first waits until another has come beside it.
        try await eventually("several run at a time") { Self.most.withLock { $0 } > 1 }
        Self.running.withLock { $0 -= 1 }
        #expect(running <= FewAtATime.most)
    }

    @Test("leave nothing behind, even where the process that ran them is killed", .fewAtATime)
    func orphans() async throws {
        let mark = "BEACON_TEST_SUPPORT=\(UUID())"
        let end = try #require(HelperGuard.start(endingWhatHas: mark))
        // In a session of its own, and one that does not listen to polite signals.
        let helper = try ChildProcess(
            "env", [mark, "setsid", "sh", "-c", "trap '' TERM HUP; while :; do sleep 60; done"])
        try await eventually("it has begun") {
            let environment = try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(helper.id)/environ"))
            return environment?.range(of: Data(mark.utf8)) != nil
        }
        // What the system does for a process that has ended, in whatever way.
        close(end)
        try await eventually("it is ended") { !helper.isRunning }
    }
}
