import BeaconConfiguration
import BeaconMQTT
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

@testable import BeaconGateway

@Suite("Configurations: Home Assistant")
struct HomeAssistantReadingTests {
    private static func check(_ homeAssistant: String) -> GatewayConfiguration.Checked {
        ConfigurationBench.check(
            ConfigurationBench.start
                + "destinations: [{ name: a, type: mqtt, host: localhost, home-assistant: \(homeAssistant) }]")
    }

    @Test(
        "Home Assistant gets regions and beacons, unless the settings select only beacons or nothing",
        arguments: [
            ("true", true, true), ("{}", true, true), ("{ regions: true }", true, true),
            ("{ regions: false }", true, false), ("false", false, true), ("{ enabled: false }", false, true),
        ])
    func values(_ text: String, isEnabled: Bool, announcesRegions: Bool) throws {
        let checked = Self.check(text)
        #expect(checked.diagnostics.isEmpty, "\(checked.diagnostics)")
        guard case .mqtt(let settings) = try #require(checked.configuration.destinations.first).kind else {
            Issue.record("it is not a broker")
            return
        }
        #expect(settings.homeAssistant.isEnabled == isEnabled)
        #expect(settings.homeAssistant.announcesRegions == announcesRegions)
    }

    @Test(
        "The language is English, unless the settings name another one",
        arguments: [("{}", "en"), ("{ language: de }", "de")])
    func language(_ text: String, _ expected: String) throws {
        let checked = Self.check(text)
        #expect(checked.diagnostics.isEmpty, "\(checked.diagnostics)")
        guard case .mqtt(let settings) = try #require(checked.configuration.destinations.first).kind else {
            Issue.record("it is not a broker")
            return
        }
        #expect(settings.homeAssistant.language.rawValue == expected)
    }

    @Test("A beacon counts for places if it is a tracker or says so, and places have ids")
    func places() throws {
        let uuid = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"
        func check(_ study: String, places: Bool = true) -> GatewayConfiguration.Checked {
            ConfigurationBench.check(
                ConfigurationBench.start
                    + """
                    beacons:
                      - { name: keys, uuid: \(uuid), major: 1, minor: 1, tracker: true }
                      - { name: cat, uuid: \(uuid), major: 1, minor: 2, occupies: true }
                      - { name: car, uuid: \(uuid), major: 1, minor: 3, tracker: true, occupies: false }
                      - { name: lamp, uuid: \(uuid), major: 1, minor: 4 }
                    places: [{ name: Kitchen, receivers: [pi, stove] }, { name: Study, receivers: [desk], id: \(study) }]
                    destinations: [{ name: a, type: mqtt, host: localhost, home-assistant: { places: \(places) } }]
                    """)
        }
        let checked = check("s-1")
        #expect(checked.diagnostics.isEmpty, "\(checked.diagnostics)")
        #expect(checked.configuration.namedBeacons.map(\.occupies) == [true, true, false, false])
        #expect(
            checked.configuration.namedPlaces
                == [
                    NamedPlace(name: "Kitchen", receivers: ["pi", "stove"]),
                    NamedPlace(name: "Study", receivers: ["desk"], id: "s-1"),
                ])
        guard case .mqtt(let broker) = try #require(check("s", places: false).configuration.destinations.first).kind
        else {
            Issue.record("it is not a broker")
            return
        }
        #expect(!broker.homeAssistant.announcesPlaces)
        #expect(check("pi").diagnostics.map(\.severity) == [.warning])
        #expect(check("'a b'").diagnostics.map(\.severity) == [.error])
    }

    @Test(
        "Unique ids of former entities are read, and belong to one beacon each",
        arguments: [
            ("{ device: a, tracker: b }", "{ tracker: c }", ""), ("{ trakcer: b }", "{}", #"was "tracker" meant?"#),
            ("{ tracker: b }", "{ place: b }", #"which "keys" has already"#), ("b", "{}", "unique-ids"),
            ("{ tracker: b }", "{ tracker: '' }", "write the unique id of the former entity"),
        ])
    func uniqueIDs(_ keys: String, _ cat: String, _ expected: String) {
        let uuid = ConfigurationBench.uuid
        let checked = ConfigurationBench.check(
            ConfigurationBench.start
                + """
                beacons:
                  - { name: keys, uuid: \(uuid), major: 1, minor: 1, tracker: true, unique-ids: \(keys) }
                  - { name: cat, uuid: \(uuid), major: 1, minor: 2, tracker: true, unique-ids: \(cat) }
                """)
        if expected.isEmpty {
            #expect(checked.diagnostics.isEmpty, "\(checked.diagnostics)")
            #expect(
                checked.configuration.namedBeacons.map(\.uniqueIDs) == [
                    ["device": "a", "tracker": "b"], ["tracker": "c"],
                ])
        } else {
            #expect(checked.diagnostics.contains { $0.message.contains(expected) }, "\(checked.diagnostics)")
            #expect(!checked.isUsable)
        }
    }

    @Test("A unique id for the tracker of a beacon without one is a warning")
    func uniqueIDWithoutTracker() {
        let checked = ConfigurationBench.check(
            ConfigurationBench.start
                + "beacons: [{ name: a, uuid: \(ConfigurationBench.uuid), major: 1, minor: 1, unique-ids: { tracker: b } }]"
        )
        #expect(checked.isUsable)
        #expect(checked.diagnostics.contains { $0.message.contains("tracker: true") }, "\(checked.diagnostics)")
    }

    @Test(
        "Mistakes are reported",
        arguments: [
            ("{ regions: some }", "regions"), ("{ region: false }", #"was "regions" meant?"#),
            ("{ language: deutsch }", "write en or de"),
        ])
    func mistakes(_ text: String, _ expected: String) {
        let checked = Self.check(text)
        #expect(checked.diagnostics.contains { $0.message.contains(expected) }, "\(checked.diagnostics)")
    }

    @Test(
        "A place cannot have the name of a state, and a name of Home Assistant's own is a warning",
        arguments: [
            ("away", "error"), ("Away", "error"), ("None", "error"), ("none", "error"), ("unknown", "error"),
            ("Unknown ", "error"), ("unavailable", "error"), ("home", "warning"), ("Home", "warning"),
            ("not_home", "warning"), ("kitchen", ""), ("homework", ""), ("nonesuch", ""), ("runaway", ""),
        ])
    func placeNames(_ name: String, _ severity: String) throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("rooms.json").path
        try #"{"version":1,"places":[{"name":"\#(name)","points":[{"R1":-14.2}]}]}"#.write(
            toFile: file, atomically: true, encoding: .utf8)
        for text in ["places: [{ name: \"\(name)\", receivers: [a] }]", "taught-places: \(file)"] {
            let diagnostics = ConfigurationBench.check(ConfigurationBench.start + text).diagnostics
            #expect(diagnostics.map(\.severity.rawValue) == (severity.isEmpty ? [] : [severity]), "\(diagnostics)")
            #expect(diagnostics.allSatisfy { $0.message.contains("give the place another name") }, "\(diagnostics)")
        }
    }

    @Test(
        "An unencrypted password to another machine is a warning, unless the file decides it",
        arguments: [("", 1), (", tls: false", 0), (", tls: true", 0)])
    func unencrypted(_ keys: String, _ warnings: Int) {
        let text =
            ConfigurationBench.start
            + "destinations: [{ name: a, type: mqtt, host: core-mosquitto, user: u, password: { env: P }\(keys) }]"
        let diagnostics = ConfigurationBench.check(text, ["P": "secret"]).diagnostics
        #expect(diagnostics.count == warnings, "\(diagnostics)")
        #expect(diagnostics.allSatisfy { $0.message.contains("write \"tls: false\" if you trust the network") })
    }

    @Test("A carried beacon is a tracker, and a fixed beacon has a place")
    func trackers() throws {
        let checked = ConfigurationBench.check(
            ConfigurationBench.start + """
                beacons:
                  - { name: keys, uuid: \(ConfigurationBench.uuid), major: 1, minor: 2, tracker: true }
                  - { name: shelf, uuid: \(ConfigurationBench.uuid), major: 1, minor: 3, place: kitchen }
                """)
        #expect(checked.diagnostics.isEmpty, "\(checked.diagnostics)")
        let beacons = checked.configuration.namedBeacons
        #expect(beacons.map(\.isTracker) == [true, false])
        #expect(beacons.map(\.place) == [nil, "kitchen"])
    }

    @Test("A fixed tracker is a warning, and a tracker value other than true or false is a mistake")
    func badTrackers() {
        func check(_ keys: String) -> GatewayConfiguration.Checked {
            ConfigurationBench.check(
                ConfigurationBench.start
                    + "beacons: [{ name: keys, uuid: \(ConfigurationBench.uuid), major: 1, minor: 2, \(keys) }]")
        }
        let fixed = check("tracker: true, place: kitchen")
        #expect(fixed.isUsable)
        #expect(fixed.diagnostics.contains { $0.message.contains("\"tracker\" is for a beacon that a person carries") })
        #expect(!check("tracker: Ann").isUsable)
        #expect(check("traker: true").diagnostics.contains { $0.message.contains(#"was "tracker" meant?"#) })
    }

    /// Returns two regions of the same beacons, the second with further keys.
    private static func regions(_ keys: String, homeAssistant: String = "true") -> GatewayConfiguration.Checked {
        ConfigurationBench.check(
            """
            sources: [auto]
            regions:
              - { name: hall, uuid: \(ConfigurationBench.uuid) }
              - { name: till, uuid: \(ConfigurationBench.uuid)\(keys) }
            destinations: [{ name: a, type: mqtt, host: localhost, home-assistant: \(homeAssistant) }]
            """)
    }

    @Test("Regions of the same beacons are distinguished by an id, and without an id there is a warning")
    func ids() throws {
        let checked = Self.regions(", minimum-rssi: -65, id: till_1")
        #expect(checked.diagnostics.isEmpty, "\(checked.diagnostics)")
        let destination = try #require(checked.configuration.destinations.first)
        #expect(checked.configuration.namedRegions(for: destination).map(\.id) == [nil, "till_1"])
        let equal = Self.regions(", minimum-rssi: -65")
        #expect(equal.isUsable)
        #expect(equal.diagnostics.contains { $0.message.contains(#"the regions "hall" and "till" match the same"#) })
        #expect(Self.regions(", major: 1").diagnostics.isEmpty)
        #expect(Self.regions("", homeAssistant: "false").diagnostics.isEmpty)
        #expect(Self.regions("", homeAssistant: "{ regions: false }").diagnostics.isEmpty)
    }

    @Test("An invalid id is reported", arguments: ["till 1", "käse", "a/b", "''"])
    func badIDs(id: String) {
        #expect(Self.regions(", id: \(id)").diagnostics.contains { $0.message.contains(#""id" is"#) })
    }

    @Test("Two regions with the same id are a mistake")
    func equalIDs() {
        let checked = ConfigurationBench.check(
            """
            sources: [auto]
            regions:
              - { name: hall, uuid: \(ConfigurationBench.uuid), id: x }
              - { name: till, uuid: \(ConfigurationBench.uuid), major: 1, id: x }
            """)
        #expect(!checked.isUsable)
        #expect(checked.diagnostics.contains { $0.message.contains(#""till" has the "id" of "hall""#) })
    }

    @Test(
        "Devices link to a console only if browsers on other machines can open it",
        arguments: [
            ("127.0.0.1", 8099, false, false, nil), ("192.168.1.20", 8099, true, false, "http://192.168.1.20:8099/"),
            ("192.168.1.20", 0, true, false, nil), ("192.168.1.20", 8099, false, true, nil),
            ("192.168.1.20", 8099, true, true, "http://192.168.1.20:8099/"), ("::1", 8099, true, false, nil),
        ])
    func links(host: String, port: Int, hasToken: Bool, hasProxy: Bool, expected: String?) {
        var web = WebSettings()
        (web.host, web.port) = (host, port)
        if hasToken { web.tokenHash = String(repeating: "a", count: 64) }
        if hasProxy { web.trustedProxies = ["172.30.32.2"] }
        #expect(web.remoteAddress == expected)
    }

    @Test("The gateway's diagnostics cover the time between two readings")
    func diagnostics() {
        var before = GatewayStatistics(sources: [.init(name: "one"), .init(name: "two")])
        before.sources[0].packets = 100
        var now = before
        now.sources[0].packets = 300
        now.sources[1].packets = 50
        #expect(
            GatewayDiagnostics(now, since: before, .seconds(10), hears: false, waiting: 3)
                == GatewayDiagnostics(hears: false, advertsPerSecond: 25, waiting: 3))
        #expect(GatewayDiagnostics(now, since: before, .zero, hears: true, waiting: 0).advertsPerSecond == 0)
        // A source that was opened again counts from 0.
        #expect(GatewayDiagnostics(before, since: now, .seconds(10), hears: true, waiting: 0).advertsPerSecond == 0)
    }
}
