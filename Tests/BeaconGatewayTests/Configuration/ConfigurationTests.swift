import BeaconBroker
import BeaconConfiguration
import BeaconDelivery
import BeaconEngine
import BeaconEventStore
import BeaconGateway
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation
import GatewayTestSupport
import Logging
import Testing

@Suite("Configurations")
struct ConfigurationTests {
    private static let example = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Examples/beacond.yaml")

    @Test("The documentation's example is usable once its secrets exist")
    func example() throws {
        let secrets = ["CLOUD_SECRET", "KUMULOS_API_KEY", "KUMULOS_SECRET_KEY", "MQTT_PASSWORD"]
        let without = try GatewayConfiguration.check(file: Self.example.path, environment: [:])
        #expect(without.diagnostics.count == secrets.count, "\(without.diagnostics)")
        let checked = try GatewayConfiguration.check(
            file: Self.example.path, environment: Dictionary(uniqueKeysWithValues: secrets.map { ($0, "c2VjcmV0") }))
        #expect(checked.diagnostics.isEmpty, "\(checked.diagnostics)")
        #expect(!checked.configuration.destinations.isEmpty)
    }

    @Test("Every commented-out key in the example exists")
    func commentedExample() throws {
        // A commented-out option is "#key: value"; prose has a space after the sign.
        let text = try String(contentsOf: Self.example, encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard let sign = line.firstIndex(of: "#"), line[..<sign].allSatisfy({ $0 == " " }),
                let next = line[sign...].dropFirst().first, next != " "
            else { return String(line) }
            return String(line[..<sign] + line[line.index(after: sign)...])
        }
        // Some keys appear in two forms, and the files and secrets are on another machine.
        let errors = ConfigurationBench.check(lines.joined(separator: "\n")).diagnostics.filter { diagnostic in
            !["more than once", "does not have here", "cannot be read here", "there is no such file"].contains {
                diagnostic.message.contains($0)
            }
        }
        #expect(errors.isEmpty, "\(errors)")
        #expect(lines.joined().count < text.count)
    }

    @Test("Given keys are used, and others have their defaults")
    func values() throws {
        let checked = ConfigurationBench.check(
            """
            sources:
              - hci:hci1
              - { name: door, from: bluez, receiver: front door }
              - { name: tape, from: /dev/null, speed: 1 }
            regions:
              - { name: hall, uuid: \(ConfigurationBench.uuid), major: 1, minimum-rssi: -80, exit-timeout: 1m30s, adaptive-exit: yes }
            notify: { events: exit, cool-down: off, heartbeat: 5m, minimum-proximity: near }
            destinations:
              - { name: cloud, type: webhook, url: https://example.com, regions: hall, secret: { env: SIGN } }
            outbox: { path: out/box.sqlite, maximum-size: 2MB }
            launch:
              applications: true
              rules: [{ name: lights, program: "/bin/lights 'at home'", events: [enter, exit] }]
            """, ["SIGN": "s3cret"])
        #expect(checked.diagnostics.isEmpty, "\(checked.diagnostics)")
        let configuration = checked.configuration
        #expect(configuration.sources.map(\.name) == ["hci:hci1", "door", "tape"])
        #expect(configuration.sources.map(\.receiver) == [nil, "front door", nil])
        #expect(configuration.sources.map(\.pace) == [.times(1), .times(1), .times(1)])
        let region = try #require(configuration.regions.first?.region)
        #expect(region.minimumRSSI == -80 && region.exitRSSI == -80 && region.isExitAdaptive)
        #expect(region.exitTimeout == .seconds(90))
        #expect(configuration.notify.kinds == [.exit])
        #expect(configuration.notify.heartbeatInterval == .seconds(300))
        #expect(configuration.notify.minimumProximity == .near)
        guard case .webhook(let webhook)? = configuration.destinations.first?.kind else {
            Issue.record("it is not a webhook")
            return
        }
        #expect(webhook.signingSecrets.map { $0.reveal() } == ["s3cret"])
        #expect(configuration.destinations.first?.regions == ["hall"])
        #expect(configuration.outbox.path == "/etc/beacons/out/box.sqlite")
        #expect(configuration.outbox.limits.bytes == 2_000_000)
        #expect(configuration.launch.applications?.timeLimit == .seconds(30))
        #expect(configuration.launch.rules.first?.target == .program(["/bin/lights", "at home"]))
    }

    @Test("An item of the console means the same as in the file")
    func items() throws {
        let golden = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().appendingPathComponent("../../Golden/configurations/every-key.yaml")
        let text = try String(contentsOf: golden, encoding: .utf8)
        let file = ConfigurationBench.check(text, MutatedConfigurationTests.environment).configuration
        var base = file
        (base.regions, base.beacons, base.launch.rules, base.items) = ([], [], [], [])
        (base.sources, base.destinations) = ([], [])
        base.places?.places = []
        base.path = "/etc/beacons/beacond.yaml"
        let merged = base.adding(
            file.items.map {
                ConfigurationItem(kind: $0.kind, name: $0.name, settings: $0.settings, origin: .console)
            })
        #expect(merged.items.count >= 8)
        // The speed is one for all sources, so it stays in the file.
        #expect(merged.items.compactMap(\.fault) == ["\"speed\" is for the sources of the file"])
        #expect(merged.sources.map(\.name) == file.sources.map(\.name).filter { $0 != "entrance" })
        #expect(merged.destinations == file.destinations)
        #expect(merged.regions == file.regions && merged.beacons == file.beacons)
        #expect(merged.places == file.places && merged.launch.rules == file.launch.rules)
    }

    @Test("Sources share one speed: the given one, or real time if a source is a radio or a simulation")
    func speeds() {
        func paces(_ sources: String) -> [Pace] {
            let checked = ConfigurationBench.check(
                "sources: [\(sources)]\nregions: [{ name: hall, uuid: \(ConfigurationBench.uuid) }]")
            #expect(checked.diagnostics.isEmpty, "\(checked.diagnostics)")
            return checked.configuration.sources.map(\.pace)
        }
        #expect(paces("/dev/null") == [.fastest])
        #expect(paces("'simulation:museum'") == [.times(1)])
        #expect(paces("{ name: a, from: 'simulation:museum', speed: 20 }, /dev/null") == [.times(20), .times(20)])
        #expect(paces("'simulation:museum', { name: a, from: /dev/null, speed: max }") == [.fastest, .fastest])
        #expect(
            paces("{ name: a, from: /dev/null, speed: 2 }, { name: b, from: /dev/zero, speed: 2.0 }")
                == [.times(2), .times(2)])
    }

    @Test("The environment overrides the file, and finds list items by name")
    func environment() {
        let checked = ConfigurationBench.check(
            ConfigurationBench.start + "destinations: [{ name: my cloud, type: webhook, url: https://file.example }]",
            [
                "BEACOND_SOURCES": "hci:hci0, simulation:museum", "BEACOND_LOG_LEVEL": "debug",
                "BEACOND_DESTINATIONS_MY_CLOUD_URL": "https://environment.example",
                "BEACOND_REGIONS_HALL_EXIT_TIMEOUT": "5m", "BEACOND_NOTIFY_EVENTS": "enter,exit",
            ])
        #expect(checked.diagnostics.isEmpty, "\(checked.diagnostics)")
        let configuration = checked.configuration
        #expect(configuration.sources.map(\.specification) == [.hci(adapters: "hci0"), .simulation("museum")])
        #expect(configuration.log.level == .debug)
        #expect(configuration.regions.first?.region.exitTimeout == .seconds(300))
        #expect(configuration.notify.kinds == [.enter, .exit])
        guard case .webhook(let webhook)? = configuration.destinations.first?.kind else {
            Issue.record("it is not a webhook")
            return
        }
        #expect(webhook.url.host == "environment.example")
    }

    @Test("A secret is read from a file without its line end, and never appears in output")
    func secretFile() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
        try "s3cret\n".write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let checked = ConfigurationBench.check(
            ConfigurationBench.start + """
                destinations:
                  - { name: a, type: mqtt, host: b, tls: true, user: u, password: { file: \(file.path) } }
                  - { name: c, type: webhook, url: { file: \(file.path) } }
                """)
        guard case .mqtt(let mqtt)? = checked.configuration.destinations.first?.kind else {
            Issue.record("it is not a broker")
            return
        }
        #expect(mqtt.connection.password?.reveal() == "s3cret")
        var dumped = ""
        dump(checked, to: &dumped)
        #expect(!dumped.contains("s3cret") && !"\(checked)".contains("s3cret"))
        #expect(checked.diagnostics.map { $0.message.contains("not an address") } == [true])
    }

    @Test("An unreadable file is reported")
    func unreadable() {
        #expect {
            _ = try GatewayConfiguration.check(file: "/nowhere/at.all", environment: [:])
        } throws: { ($0 as? ConfigurationError)?.code == .cannotRead }
    }

    @Test(
        "Durations are numbers with units, or only seconds",
        arguments: [
            ("30s", Duration.seconds(30)), ("1h30m", .seconds(5400)), ("500ms", .milliseconds(500)),
            ("1.5m", .seconds(90)),
            ("2d", .seconds(172_800)), ("30", .seconds(30)), ("0", .zero), ("0.25", .milliseconds(250)),
            ("20us", .microseconds(20)),
            ("", nil), (".", nil), ("1h30", nil), ("30 ", nil), ("inf", nil), ("0x1E", nil), ("-1", nil), ("-1s", nil),
            ("1s ", nil), ("s", nil), ("1e9s", nil),
            ("99999999999d", nil), ("1.2.3s", nil),
        ] as [(String, Duration?)])
    func durations(_ text: String, _ duration: Duration?) {
        #expect(DurationText.duration(text) == duration)
    }

    @Test("Places have receivers, each receiver has one place, and taught places are a file")
    func places() throws {
        let places = "places: [{ name: hall, receivers: [hci0, hci1] }, { name: kitchen, receivers: esp }]\n"
        let checked = ConfigurationBench.check(ConfigurationBench.start + places)
        #expect(checked.diagnostics.isEmpty)
        #expect(checked.configuration.places?.places.map(\.receivers) == [["hci0", "hci1"], ["esp"]])
        let twice = ConfigurationBench.lines(
            ConfigurationBench.start + "places: [{ name: a, receivers: [x] }, { name: b, receivers: [x] }]\n")
        #expect(twice.count == 1 && twice[0].contains("\"x\" is in \"a\" already"))
        let none = ConfigurationBench.lines(ConfigurationBench.start + "places: [{ name: a }]\n")
        #expect(none.count == 1 && none[0].contains("receivers"))
        let empty = ConfigurationBench.lines(ConfigurationBench.start + "places: []\n")
        #expect(empty.count == 1 && empty[0].contains("no places; add at least one"))
        let rules = ConfigurationBench.check(
            ConfigurationBench.start + places + "place-rules: { margin: 9, hold-time: 0s, exit-timeout: 2m }\n")
        #expect(rules.diagnostics.isEmpty)
        #expect(rules.configuration.places?.rules.margin == 9)
        #expect(rules.configuration.places?.rules.holdTime == .zero)
        #expect(rules.configuration.places?.rules.exitTimeout == .seconds(120))
        let alone = ConfigurationBench.lines(ConfigurationBench.start + "place-rules: { margin: 9 }\n")
        #expect(alone.count == 1 && alone[0].contains("needs places"))
        let wrong = ConfigurationBench.lines(ConfigurationBench.start + places + "place-rules: { hold: 1s }\n")
        #expect(wrong.count == 1 && wrong[0].contains("hold-time"))
        let file = ConfigurationBench.lines(ConfigurationBench.start + "taught-places: nowhere.json\n")
        #expect(file.count == 1 && file[0].contains("nowhere.json"))
    }

    @Test("A rule for places needs places, and a fault lists them")
    func placeRules() {
        let places = "places: [{ name: hall, receivers: [a] }, { name: kitchen, receivers: [b] }]\n"
        func rule(_ text: String) -> String { "launch: { rules: [{ name: bowl, program: [/bin/true], \(text) }] }\n" }
        let good = ConfigurationBench.check(
            ConfigurationBench.start + places + rule("events: [place], places: [kitchen]"))
        #expect(good.diagnostics.isEmpty)
        #expect(good.configuration.launch.rules.first?.places == ["kitchen"])
        let missing = ConfigurationBench.lines(ConfigurationBench.start + rule("events: [place]"))
        #expect(missing.count == 1 && missing[0].contains("needs places"))
        let strange = ConfigurationBench.lines(
            ConfigurationBench.start + places + rule("events: [place], places: [kichen]"))
        #expect(strange.count == 1 && strange[0].contains("was \"kitchen\" meant?"))
        let idle = ConfigurationBench.lines(ConfigurationBench.start + places + rule("places: [kitchen]"))
        #expect(idle.count == 1 && idle[0].contains("needs an event of beacons"))
    }

    @Test("The console is for this machine, or for clients with a token")
    func web() {
        func check(_ text: String) -> (web: WebSettings?, lines: [String]) {
            let text = ConfigurationBench.start + text
            return (ConfigurationBench.check(text).configuration.web, ConfigurationBench.lines(text))
        }
        #expect(check("").web == nil)
        #expect(check("web: false\n").web == nil)
        #expect(check("web: true\n").web == WebSettings())
        #expect(check("web: true\n").web?.address == "http://127.0.0.1:8099/")
        #expect(check("web: { listen: \"[::1]:80\" }\n").web?.address == "http://[::1]:80/")
        #expect(check("web: { listen: localhost }\n").web?.port == 8099)
        #expect(check("web: { listen: \"::1\" }\n").web?.address == "http://[::1]:8099/")
        for address in ["127.0.0.1:70000", "\"a b:80\"", "http://x:80", "\":80\""] {
            #expect(check("web: { listen: \(address) }\n").lines.count == 1, "\(address)")
        }
        let hash = AccessToken().hash
        let open = check("web: { listen: \"0.0.0.0:8099\" }\n").lines
        #expect(open.contains { $0.contains("error") && $0.contains("beacond token") })
        let token = check("web: { listen: \"0.0.0.0:8099\", token-hash: \(hash) }\n")
        #expect(token.web?.tokenHash == hash)
        #expect(token.lines.count == 1 && token.lines[0].contains("without encryption"))
        #expect(check("web: { token-hash: short }\n").lines.count == 1)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).pem")
        defer { try? FileManager.default.removeItem(at: file) }
        try? Data("no certificate".utf8).write(to: file)
        let wrong = check("web: { certificate: \(file.path), key: \(file.path) }\n").lines
        #expect(wrong.count == 1 && wrong[0].contains("are not a certificate"))
        #expect(check("web: { certificate: \(file.path) }\n").lines.contains { $0.contains("needs both") })
        #expect(check("web: { listne: x }\n").lines.first?.contains("listen") == true)
        let proxies = check("web: { listen: \"0.0.0.0\", trusted-proxies: [172.30.32.2, \"FD00:0::2\"] }\n")
        #expect(proxies.web?.trustedProxies == ["172.30.32.2", "fd00::2"] && proxies.lines.isEmpty)
        let near = check("web: { trusted-proxies: [\"::ffff:127.0.0.1\"] }\n")
        #expect(near.web?.trustedProxies == ["127.0.0.1"])
        #expect(near.lines.count == 1 && near.lines[0].contains("warning") && near.lines[0].contains("every program"))
        #expect(check("web: { trusted-proxies: [127.0.0.1], token-hash: \(hash) }\n").lines.isEmpty)
        #expect(check("web: { trusted-proxies: [172.30.32.2], names: [\"*\"] }\n").lines.isEmpty)
        for others in ["", ", trusted-proxies: [\"::1\"], token-hash: \(hash)"] {
            let any = check("web: { names: [\"*\"]\(others) }\n").lines
            #expect(any.count == 1 && any[0].contains("error") && any[0].contains("proxies of other machines"))
        }
        let unclear = check("web: { trusted-proxies: [proxy.local, 10.0.0.0/8] }\n").lines
        #expect(unclear.count == 2 && unclear.allSatisfy { $0.contains("which is not an address") })
        #expect(check("web: { history-age: 30d, history-entries: 500 }\n").web?.historyEntries == 500)
        #expect(check("web: { history-entries: 1000000 }\n").lines.isEmpty)
        #expect(check("web: { history-entries: 1000001 }\n").lines.first?.contains("100 to 1000000") == true)
    }

    @Test(
        "Senders of events need the console, in whatever way it is off",
        arguments: [
            ("", nil, true), ("web: false", nil, true), ("web: off", nil, true), ("web: true", "false", true),
            ("web: true", nil, false), ("web: false", "true", false), ("web: { read-only: true }", nil, false),
        ])
    func consoleOfSenders(web: String, variable: String?, isFault: Bool) {
        var environment = ["KEY": "whsec_c2VjcmV0"]
        environment["BEACOND_WEB"] = variable
        let key = "{ env: KEY }"
        for senders in [
            "apps: [{ name: a, api-key: \(key), secret-key: \(key) }]", "webhooks: [{ name: a, secret: \(key) }]",
        ] {
            let text = ConfigurationBench.start + "intake: { \(senders) }\n"
            let lines = ConfigurationBench.lines(text + web, environment)
            #expect(lines.count == (isFault ? 1 : 0), "\(lines)")
            #expect(lines.allSatisfy { $0.contains("error: \"intake\" needs the console") }, "\(lines)")
            // A faulty console is one fault.
            let faulty = ConfigurationBench.lines(text + "web: perhaps", ["KEY": "whsec_c2VjcmV0"])
            #expect(faulty.count == 1 && faulty[0].contains("\"web\" is \"perhaps\""), "\(faulty)")
        }
        // Without a console there is no age of the history, which a rule could exceed.
        let rule = "{ name: r, message: Hi, who: { was: { regions: [hall], within: 91d } } }"
        let lines = ConfigurationBench.lines(
            ConfigurationBench.start + "launch: { rules: [\(rule)] }\n\(web)\n", environment)
        #expect(
            lines.count == (isFault ? 0 : 1) && lines.allSatisfy { $0.contains("keeps events for 90d") }, "\(lines)")
    }

    @Test("A region's signal can be learned, and then has no exit level")
    func learnedSignal() {
        let region =
            "sources: [auto]\nregions: [{ name: hall, uuid: \(ConfigurationBench.uuid), minimum-rssi: auto%}]\n"
        let learned = ConfigurationBench.check(region.replacingOccurrences(of: "%", with: " "))
        #expect(learned.diagnostics.isEmpty && learned.configuration.regions[0].region.isSignalLearned)
        let both = ConfigurationBench.lines(region.replacingOccurrences(of: "%", with: ", exit-rssi: -80"))
        #expect(both.count == 1 && both[0].contains("learns both"))
        let wrong = ConfigurationBench.lines(region.replacingOccurrences(of: "auto%", with: "strong"))
        #expect(wrong.count == 1 && wrong[0].contains("or auto"))
    }

    @Test("Calibration is a file, and its faults are reported at the line that names it")
    func calibration() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(#"{"version":1,"receivers":{"hci0":{"offset":3}},"beacons":{}}"#.utf8).write(to: file)
        let text = ConfigurationBench.start + "calibration: \(file.path)\n"
        let checked = ConfigurationBench.check(text)
        #expect(checked.diagnostics.isEmpty)
        #expect(checked.configuration.calibrations.receivers["hci0"]?.offset == 3)
        try Data(#"{"version":1,"receivers":{"hci0":{"offset":300}},"beacons":{}}"#.utf8).write(to: file)
        let lines = ConfigurationBench.lines(text)
        #expect(lines.count == 1 && lines[0].hasPrefix("f:3:14: ") && lines[0].contains("offset of hci0"))
    }
}
