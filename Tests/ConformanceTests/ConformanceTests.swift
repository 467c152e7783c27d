import BeaconTestKit
import Testing

/// Faulty apps after public reports, each with its corrected twin.
@Suite("Conformance of beacon apps", .serialized)
@MainActor
struct ConformanceTests {
    /// The number of sample apps.
    nonisolated static let count = 31

    private let apps = VisitApps.all + RangingApps.all + LaunchApps.all + SettingsApps.all

    @Test("The check finds the fault, and nothing in the corrected twin", arguments: 0..<count)
    func fault(index: Int) async throws {
        try #require(apps.count == Self.count)
        let app = apps[index]
        let faulty = await app.run(isFixed: false, in: app.situations)
        #expect(
            faulty.findings.contains { app.situations.contains($0.situation) }, "not found: \(app.name)\n\(faulty)")
        let twin = await app.run(isFixed: true)
        #expect(twin.findings.isEmpty, "\(twin)")
    }
}
