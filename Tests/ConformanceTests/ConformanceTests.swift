import BeaconTestKit
import Testing

/// Faulty apps after public reports, each with its corrected twin.
@Suite("Conformance of beacon apps", .serialized)
@MainActor
struct ConformanceTests {
    /// The number of sample apps.
    nonisolated static let count = 54

    private let apps =
        VisitApps.all + RangingApps.all + NeighborApps.all + SceneApps.all + LaunchApps.all + SettingsApps.all
        + BluetoothApps.all

    @Test("The check finds the fault, and nothing in the corrected twin", arguments: 0..<count)
    func fault(index: Int) async throws {
        try #require(apps.count == Self.count)
        let app = apps[index]
        let faulty = await app.run(isFixed: false, in: app.situations)
        expect(app.findings, in: faulty.findings, of: app, faulty)
        expect(app.remarks, in: faulty.remarks, of: app, faulty)
        #expect(faulty.findings.allSatisfy { app.situations.contains($0.situation) }, "blamed twice: \(faulty)")
        guard !app.sharesTwin else { return }
        let twin = await app.run(isFixed: true)
        #expect(twin.findings.isEmpty, "\(twin)")
    }

    private func expect(
        _ texts: [Int: String], in found: [Conformance.Finding], of app: SampleApp, _ report: Conformance.Report
    ) {
        for (situation, text) in texts {
            #expect(
                found.contains { $0.situation == situation && $0.text.hasPrefix(text) },
                "\(app.name): situation \(situation) does not find \"\(text)\"\n\(report)\n\(report.remarks)")
        }
    }

    @Test("Each situation finds the fault of a sample app")
    func situations() { #expect(Set(apps.flatMap(\.situations)) == Set(1...40)) }

    @Test("Unusual apps are right")
    func rightApps() async {
        for (app, situations) in RightApps.all {
            let report = await app.run(isFixed: true, in: situations)
            #expect(report.findings.isEmpty, "\(report)")
        }
    }
}
