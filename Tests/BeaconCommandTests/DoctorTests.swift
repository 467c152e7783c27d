import Foundation
import TestSupport
import Testing

@Suite("beacon doctor", .fewAtATime)
struct DoctorTests {
    @Test("Each line of JSON is a finding, and a problem makes the exit status 1")
    func json() async throws {
        let outcome = try await BeaconProgram.run("doctor", "--json")
        let findings = try outcome.lines.map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(findings.contains { $0["subject"] as? String == "kernel" })
        #expect(findings.contains { $0["subject"] as? String == "permissions" })
        let levels = findings.compactMap { $0["level"] as? String }
        #expect(levels.count == findings.count)
        #expect(Set(levels).isSubset(of: ["ok", "warning", "problem"]))
        #expect(outcome.status == (levels.contains("problem") ? 1 : 0))
    }

    @Test("The text has a line for each finding, with the command that fixes it below")
    func text() async throws {
        let outcome = try await BeaconProgram.run("doctor")
        #expect(outcome.lines.contains { $0.contains("kernel") && $0.contains("Linux") })
        #expect(outcome.lines.allSatisfy { $0.count <= 100 || $0.contains("→") })
    }
}
