import BeaconMQTT
import Testing

@testable import BeaconGateway

@Suite("Home Assistant in a configuration")
struct HomeAssistantReadingTests {
    private static func check(_ homeAssistant: String) -> GatewayConfiguration.Checked {
        ConfigurationBench.check(
            ConfigurationBench.start
                + "destinations: [{ name: a, type: mqtt, host: localhost, home-assistant: \(homeAssistant) }]")
    }

    @Test(
        "It is told of regions and beacons, unless it is to be told of beacons alone, or of none",
        arguments: [
            ("true", true, true), ("{}", true, true), ("{ regions: true }", true, true),
            ("{ regions: false }", true, false), ("false", false, true), ("{ enabled: false }", false, true),
        ])
    func values(_ text: String, isEnabled: Bool, announcesRegions: Bool) throws {
        let checked = Self.check(text)
        #expect(checked.diagnostics.isEmpty, "\(checked.diagnostics)")
        guard case .mqtt(let settings) = try #require(checked.configuration.destinations.first).kind else {
            Issue.record("it is no broker")
            return
        }
        #expect(settings.homeAssistantOptions.isEnabled == isEnabled)
        #expect(settings.homeAssistantOptions.announcesRegions == announcesRegions)
    }

    @Test(
        "Mistakes are reported",
        arguments: [("{ regions: some }", "regions"), ("{ region: false }", #"was "regions" meant?"#)])
    func mistakes(_ text: String, _ expected: String) {
        let checked = Self.check(text)
        #expect(checked.diagnostics.contains { $0.message.contains(expected) }, "\(checked.diagnostics)")
    }
}
