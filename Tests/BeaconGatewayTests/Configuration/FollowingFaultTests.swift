import BeaconConfiguration
import BeaconGateway
import Foundation
import GatewayTestSupport
import Testing

/// Faults of one value, without diagnostics that only follow from it.
@Suite("Configurations: faults that follow from other faults")
struct FollowingFaultTests {
    @Test(
        "A fault is reported once, without the faults that follow from it",
        arguments: [
            DiagnosticTests.Case(
                "fleet: { servers: local, name: bad name!, password: { env: NO_SUCH }, ca-file: /nowhere.pem }",
                #"f:3:8: error: in fleet, "name" is "bad name!"; write 1 to 64 letters of English, digits, hyphens and underscores"#
            ),
            DiagnosticTests.Case(
                "destinations: [{ name: a, type: kumulos, api-key: { env: KEY }, secret-key: { env: KEY }, install-id: '' }]",
                #"f:3:103: error: "install-id" is ""; write the id of the installation, a UUID"#),
            DiagnosticTests.Case(
                "outbox: { path: [a] }", #"f:3:17: error: "path" is a list; write the path of a file"#),
            DiagnosticTests.Case(
                "launch: { rules: [{ name: a, when: { days: [] }, unit: a.service }] }",
                #"f:3:36: error: in launch.rules.a.when, "days" is missing: write days of the week, such as [mon, tue], or no "days""#
            ),
        ])
    func once(_ one: DiagnosticTests.Case) {
        #expect(ConfigurationBench.lines(ConfigurationBench.start + one.text, ["KEY": "key"]) == one.lines)
    }

    @Test("A region with a faulty minor value can be referred to")
    func faultyRegion() {
        let checked = GatewayConfiguration.check(
            "sources: []\nregions: [{ name: a, uuid: \(ConfigurationBench.uuid), minor: x }]\nnotify: { regions: [a] }",
            folder: URL(fileURLWithPath: "/"), environment: [:])
        #expect(checked.diagnostics.map(\.message) == [#""minor" is "x"; write a whole number from 0 to 65535"#])
        #expect(checked.configuration.regions.map(\.name) == ["a"])
    }
}
