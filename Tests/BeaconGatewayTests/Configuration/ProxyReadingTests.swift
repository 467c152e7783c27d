import BeaconGateway
import BeaconMonitoring
import BeaconRelay
import Foundation
import GatewayTestSupport
import Testing

@Suite("Configurations: the proxy")
struct ProxyReadingTests {
    private static func configuration(_ proxy: String, sources: String = "[hci]") -> GatewayConfiguration {
        ConfigurationBench.check(
            "sources: \(sources)\nregions: [{ name: hall, uuid: \(ConfigurationBench.uuid) }]\nproxy: \(proxy)",
            ["KEY": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="]
        ).configuration
    }

    @Test("Nothing is relayed by default, and true means the default settings")
    func defaults() throws {
        #expect(Self.configuration("false").proxy == nil)
        let proxy = try #require(Self.configuration("true").proxy)
        #expect(proxy.port == 6053 && !proxy.isEach && proxy.key == nil && proxy.isAnnounced && !proxy.isOfNetwork)
        #expect(proxy.mistakes().isEmpty)
    }

    @Test("A mapping has all settings and the sources of adverts")
    func mapping() throws {
        let text = "{ name: museum, port: 7000, each: true, key: { env: KEY }, listen: 10.0.0.1, announce: false }"
        let proxy = try #require(Self.configuration(text, sources: "[hci, \"mqtt://broker\"]").proxy)
        #expect(proxy.name == "museum" && proxy.port == 7000 && proxy.isEach && proxy.key != nil)
        #expect(proxy.address == "10.0.0.1" && !proxy.isAnnounced && proxy.isOfNetwork && proxy.mistakes().isEmpty)
    }

    @Test(
        "Each mistake is reported with a remedy",
        arguments: [
            ("{ name: The Hall }", "write lower case letters, digits and hyphens"),
            ("{ port: 0 }", "\"port\""), ("{ key: abc }", "is in plain text here"),
            ("{ listen: hall.local }", "is not an address of this machine"), ("{ nam: a }", "was \"name\" meant?"),
            ("7", "\"proxy\""),
        ])
    func mistakes(proxy: String, message: String) {
        let lines = ConfigurationBench.lines(
            "sources: [hci]\nregions: [{ name: hall, uuid: \(ConfigurationBench.uuid) }]\nproxy: \(proxy)")
        #expect(lines.contains { $0.contains(message) }, "\(lines)")
    }
}
