import BeaconBroker
import BeaconConfiguration
import BeaconGateway
import BeaconMQTT
import BeaconMonitoring
import BeaconSupport
import Foundation
import GatewayTestSupport
import Testing

@Suite("Diagnostics of configurations")
struct DiagnosticTests {
    private static let uuid = ConfigurationBench.uuid

    /// A text after the start, whose lines count from 3, and its diagnostics.
    struct Case: Sendable, CustomTestStringConvertible {
        var text: String
        var lines: [String]
        var testDescription: String { lines.first ?? text }

        init(_ text: String, _ lines: String...) {
            self.text = text
            self.lines = lines
        }
    }

    private static let cases = [
        Case(
            "fleet: { servers: local, name: bad name!, password: { env: NO_SUCH }, ca-file: /nowhere.pem }",
            #"f:3:8: error: in fleet, "name" is "bad name!"; write 1 to 64 letters of English, digits, hyphens and underscores"#
        ),
        Case(
            "destinations: [{ name: a, type: kumulos, api-key: { env: KEY }, secret-key: { env: KEY }, install-id: '' }]",
            #"f:3:103: error: "install-id" is ""; write the id of the installation, a UUID"#),
        Case(
            "outbox: { path: [a] }", #"f:3:17: error: "path" is a list; write the path of a file"#),
        Case(
            "launch: { rules: [{ name: a, when: { days: [] }, unit: a.service }] }",
            #"f:3:36: error: in launch.rules.a.when, "days" is missing: write days of the week, such as [mon, tue], or no "days""#
        ),
        Case("regoins: []", #"f:3:1: error: there is no key "regoins" here; was "regions" meant?"#),
        Case(
            "notify: { cool-down: 30x }",
            #"f:3:22: error: "cool-down" is "30x"; write a span of time from 0s to 1d, such as 30s, 5m or 1h30m, or off"#
        ),
        Case(
            "notify: { events: [enter, leave] }",
            #"f:3:27: error: "events" is "leave"; write enter, exit, proximity, gone, place or suspicious"#),
        Case(
            "notify: { minimum-proximity: naer }",
            #"f:3:30: error: "minimum-proximity" is "naer"; write immediate, near or far. Was near meant?"#),
        Case(
            "notify: { regions: [hal] }",
            #"f:3:21: error: "regions" has "hal", and there is no region of this name; was "hall" meant?"#),
        Case("notify: often", #"f:3:9: error: "notify" is "often"; write keys with values, as in "key: value""#),
        Case(
            "beacons: [{ name: key, uuid: \(uuid), major: 1 }]",
            #"f:3:11: error: in beacons.key, "minor" is missing: a beacon is identified by its uuid, major and minor"#),
        Case(
            "beacons:\n  - { name: key, uuid: \(uuid), major: 1, minor: 2 }\n  - { name: key, uuid: \(uuid), major: 1, minor: 3 }",
            #"f:5:13: error: there is a beacon named "key" already; give this one another name"#),
        Case(
            "beacons: [{ name: key, uuid: e2c5, major: 1, minor: 70000 }]",
            #"f:3:30: error: "uuid" is "e2c5"; a UUID has 32 hexadecimal digits, as e2c56db5-dffb-48d2-b060-d0f5a71096e0"#,
            #"f:3:53: error: "minor" is "70000"; write a whole number from 0 to 65535"#),
        Case(
            "destinations: [{ name: a, type: mqt }]",
            #"f:3:33: error: "type" is "mqt"; write webhook, kumulos or mqtt. Was mqtt meant?"#),
        Case(
            "destinations: [{ name: a, type: webhook, url: example.com, retries: 3 }]",
            #"f:3:47: error: "url" is "example.com"; write an address such as https://example.com/beacons"#,
            #"f:3:60: error: there is no key "retries" here; there are name, type, regions, events, url, secret, headers, batch, connect-timeout, timeout, proxy, ca-file"#
        ),
        Case(
            "destinations: [{ name: a, type: webhook, url: 'https://e.com', secret: topsecret }]",
            #"f:3:72: error: "secret" is in plain text here; use { env: NAME } or { file: PATH } instead, or set BEACOND_DESTINATIONS_A_SECRET in the environment"#
        ),
        Case(
            "destinations: [{ name: a, type: webhook, url: 'https://u:p@e.com' }]",
            #"f:3:47: error: "url" has a password in it; use { env: NAME } or { file: PATH } instead"#
        ),
        Case(
            "destinations: [{ name: a, type: webhook, url: 'https://e.com', headers: { Authorization: Bearer x, 'a b': c } }]",
            #"f:3:90: error: "Authorization" is in plain text here; use { env: NAME } or { file: PATH } instead"#,
            #"f:3:100: error: "a b" is not a valid header name; write letters, digits and hyphens"#),
        Case(
            "destinations: [{ name: a, type: kumulos, api-key: { env: NO_SUCH } }]",
            #"f:3:16: error: in destinations.a, "secret-key" is missing: Kumulos shows it in the app's settings; give it as { env: NAME } or { file: PATH }"#,
            #"f:3:58: error: "api-key" needs NO_SUCH, which the environment does not have here"#),
        Case(
            "destinations: [{ name: a, type: mqtt, host: b, qos: 2, tls: maybe }]",
            #"f:3:53: error: "qos" is "2"; write a whole number from 0 to 1"#,
            #"f:3:61: error: "tls" is "maybe"; write true or false"#),
        Case(
            "outbox: { maximum-size: 3 elephants }",
            #"f:3:25: error: "maximum-size" is "3 elephants"; write a number of bytes, as 500kB, 64MB or 2GB"#),
        Case(
            "launch: { rules: [{ name: r, program: a, events: [nearby, near for 3x] }] }",
            #"f:3:51: error: "events": "nearby" is not an event; write enter, exit, place, gone, suspicious, immediate, near or far, or a proximity with a time, such as "near for 30s""#,
            #"f:3:59: error: "events": "near for 3x" has no time from 0s to 7d; write for example "near for 30s""#),
        Case(
            "launch: { rules: [{ name: r, program: a, beacons: car }] }",
            #"f:3:19: error: in launch.rules.r, "beacons" needs an event of beacons; add near to the events, or remove "beacons""#,
            #"f:3:51: error: "beacons" has "car", and there is no beacon of this name"#),
        Case(
            "launch: { rules: [{ name: r, events: [enter], regions: attic }] }",
            #"f:3:19: error: in launch.rules.r, "program" is missing: write the program to start and its arguments, a systemd "unit", a "message" to the install, or "destinations""#,
            #"f:3:56: error: "regions" has "attic", and there is no region of this name; there are hall"#),
        Case(
            "launch: { rules: [{ name: r, program: 'a \"b' }, { name: s, unit: --now }] }",
            #"f:3:39: error: in "program", a quote is not closed"#,
            #"f:3:66: error: "unit" is "--now"; write a unit's name, such as lights.service"#),
        Case(
            "beacons: [{ nmae: a, uuid: \(uuid), major: 1, minor: 1 }]",
            #"f:3:13: error: there is no key "nmae" here; was "name" meant?"#),
        Case(
            "destinations: [{ name: a, typ: mqtt, host: a }]",
            #"f:3:27: error: there is no key "typ" here; was "type" meant?"#),
        Case(
            "destinations: [{ name: a, type: Home-Assistant }]",
            #"f:3:33: error: "type" is "Home-Assistant"; write webhook, kumulos or mqtt. Was mqtt, with "home-assistant: true", meant?"#
        ),
        Case(
            "beacons: [{ name: b, uuid: \(uuid), major: 1, minor: -1 }]",
            #"f:3:83: error: "minor" is "-1"; write a whole number from 0 to 65535"#),
        Case(
            "web: 8099",
            #"f:3:6: error: "web" is "8099"; write "web: true", or for another address "web: { listen: '127.0.0.1:8099' }""#
        ),
        Case(
            "log: { level: loud }",
            #"f:3:15: error: "level" is "loud"; write trace, debug, info, notice, warning, error or critical"#),
        Case("log: {}\nlog: {}", #"f:3:1: error: "log" is given more than once in the same mapping; keep one of them"#),
    ]

    @Test("Each diagnostic has its line, the value, and a suggestion", arguments: cases)
    func table(_ example: Case) {
        #expect(ConfigurationBench.lines(ConfigurationBench.start + example.text, ["KEY": "key"]) == example.lines)
    }

    @Test("A region with a faulty minor value can be referred to")
    func faultyRegion() {
        let checked = ConfigurationBench.check(
            "sources: []\nregions: [{ name: a, uuid: \(Self.uuid), minor: x }]\nnotify: { regions: [a] }")
        #expect(checked.diagnostics.map(\.message) == [#""minor" is "x"; write a whole number from 0 to 65535"#])
        #expect(checked.configuration.regions.map(\.name) == ["a"])
    }

    @Test("A signal without its sign gets a suggestion with it, and auto is a valid signal")
    func signs() {
        func lines(_ signal: String) -> [String] {
            ConfigurationBench.lines(
                "sources: [auto]\nregions: [{ name: hall, uuid: \(Self.uuid), minimum-rssi: \(signal) }]")
        }
        #expect(lines("-80").isEmpty && lines("auto").isEmpty)
        let what = #"f:2:83: error: "minimum-rssi" is "%"; write a whole number from -127 to -1 (dBm), or auto"#
        #expect(lines("80") == [what.replacing("%", with: "80") + ". Was -80 meant?"])
        #expect(lines("0") == [what.replacing("%", with: "0")])
        #expect(lines("9999") == [what.replacing("%", with: "9999")])
        #expect(lines("\(Int.min)") == [what.replacing("%", with: "\(Int.min)")])
    }

    @Test(
        "A broker's host is only its name or address",
        arguments: [
            ("mqtt://localhost:1883", ""), ("mqtts://localhost", #", and "tls: true""#),
            ("localhost:1883", ", and its port as port"), ("[::1]", ""), ("a b", ""),
            ("host/topic", ""),
        ])
    func hosts(host: String, remedy: String) {
        let text = "destinations: [{ name: a, type: mqtt, host: '\(host)' }]"
        #expect(
            ConfigurationBench.lines(ConfigurationBench.start + text) == [
                #"f:3:45: error: in destinations.a, "host" is "\#(host)"; write the broker's name or address alone\#(remedy)"#
            ])
    }

    @Test(
        "Names and addresses of both families are hosts",
        arguments: ["localhost", "homeassistant.local", "192.168.1.2", "::1", "fe80::1%eth0"])
    func goodHosts(host: String) {
        let text = "destinations: [{ name: a, type: mqtt, host: '\(host)' }]"
        #expect(ConfigurationBench.lines(ConfigurationBench.start + text).isEmpty)
    }

    @Test("The secrets file is read like systemd does, for values of one line")
    func secrets() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("secrets-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let secrets = folder.appendingPathComponent("beacond.env")
        #expect(
            FileManager.default.createFile(
                atPath: secrets.path, contents: nil, attributes: [.posixPermissions: 0o600]))
        let file = folder.appendingPathComponent("beacond.yaml")
        let yaml = """
            sources: [auto]
            regions: [{ name: hall, uuid: \(Self.uuid) }]
            destinations: [{ name: a, type: mqtt, host: h, user: u, password: { env: P } }]
            """
        // With the byte order mark and the line ends of other systems.
        try Data("\u{FEFF}\(yaml)".utf8).write(to: file)
        func password(_ line: String, _ environment: [String: String] = [:]) throws -> (String?, [String]) {
            let text = "# first\r\n\r\nOTHER=1\r\n\(line)\r\n; last\r\n"
            try Data(text.utf8).write(to: secrets)
            let checked = try GatewayConfiguration.check(file: file.path, environment: environment)
            guard case .mqtt(let broker)? = checked.configuration.destinations.first?.kind else { return (nil, []) }
            return (
                broker.connection.password?.reveal(),
                checked.diagnostics.map { $0.text(file: "f").replacing(folder.path + "/", with: "") }
                    .filter { !$0.contains("without encryption") }
            )
        }
        let values = [
            ("P=plain", "plain"), ("P='a \"b\" \\$'", #"a "b" \$"#),
            (#"P="a \"b\" \$ \n'""#, #"a "b" $ \n'"#), (#"P='it'\''s'"#, "it's"), (#"P=a\ b\\"#, #"a b\"#),
            ("P=a=b#c", "a=b#c"),
        ]
        for (line, value) in values {
            let (found, faults) = try password(line)
            #expect(found == value && faults.isEmpty, "\(line): \(found ?? "none") \(faults)")
        }
        #expect(try password("P=file", ["P": "given"]).0 == "given")
        for line in ["P=\"open", "P='open", "P=end\\", "export P=1", "P"] {
            let (found, faults) = try password(line)
            #expect(found == nil && faults.last?.hasPrefix("beacond.env:4: warning: ") == true, "\(line): \(faults)")
        }
        #expect(
            try password("BEACOND_LGO_LEVEL=debug").1.last
                == "beacond.env:4: error: there is no such setting; was BEACOND_LOG_LEVEL meant?")
    }

    @Test("A missing or misspelled key is reported once")
    func once() {
        #expect(ConfigurationBench.lines("sources: [auto]\nregion: []").count == 1)
        #expect(ConfigurationBench.lines(ConfigurationBench.start + "web: [true]").count == 1)
        let signal = "sources: [auto]\nregions: [{ name: hall, uuid: \(Self.uuid), minimum-rssi: [-60] }]"
        #expect(ConfigurationBench.lines(signal).count == 1)
    }

    @Test("Text before a host, such as a password, is not shown")
    func secretHost() {
        let lines = ConfigurationBench.lines(
            ConfigurationBench.start + "destinations: [{ name: a, type: mqtt, host: 'mqtt://u:word@h' }]")
        #expect(lines.count == 1 && !lines[0].contains("word") && lines[0].contains("\"mqtt://…\""), "\(lines)")
    }

    @Test("Sources that cannot share one time are reported at their speeds, with a remedy")
    func speeds() {
        func lines(_ sources: String) -> [String] {
            ConfigurationBench.lines("sources: [\(sources)]\nregions: [{ name: hall, uuid: \(Self.uuid) }]")
        }
        #expect(
            lines("hci, { name: tape, from: /dev/null, speed: max }") == [
                #"f:1:54: error: all sources share one time, and beside the radio "hci" they play in real time; remove "speed", or play "tape" without the radio"#
            ])
        #expect(
            lines("{ name: a, from: /dev/null, speed: 20 }, /dev/zero, { name: b, from: /dev/null, speed: max }") == [
                #"f:1:98: error: all sources share one time, and "a" plays at another speed; give both the same, or give "speed" once"#
            ])
        #expect(lines("hci, { name: tape, from: /dev/null, speed: 1 }").isEmpty)
    }

    @Test("All diagnostics are reported at once, in the order of the file")
    func allAtOnce() {
        let text = """
            sources:
              - { name: hall, from: hci, speed: 2 }
              - { name: hall }
            regions:
              - name: a
                uuid: \(Self.uuid)
                minor: 4
              - name: b
                uuid: \(Self.uuid)
                minimum-rssi: -80
                exit-rssi: -70
                minimum-rssi: -90
                exit-timout: 30s
            outbox: { path: [a] }
            """
        #expect(
            ConfigurationBench.lines(text) == [
                #"f:2:37: error: "speed" is for files and simulations; a radio always runs in real time"#,
                #"f:3:5: error: in sources.hall, "from" is missing: write auto, hci, hci:hci0, bluez, a file, simulation:NAME, a broker at "mqtt", devices at "esphome", or gateways that post at "http""#,
                #"f:3:13: error: there is a source named "hall" already; give this one another name"#,
                #"f:7:12: error: "minor" needs a "major": a minor value means nothing without its major value"#,
                #"f:10:5: error: "minimum-rssi" is given more than once in the same mapping; keep one of them"#,
                #"f:11:16: error: "exit-rssi" is -70, above "minimum-rssi", which is -90: the region would be left by the same adverts that enter it; lower "exit-rssi""#,
                #"f:13:5: error: there is no key "exit-timout" here; was "exit-timeout" meant?"#,
                #"f:14:17: error: "path" is a list; write the path of a file"#,
            ])
    }

    @Test("Missing keys are reported, and an empty file lacks all required keys")
    func missing() {
        #expect(
            ConfigurationBench.lines("") == [
                #"f:1:1: error: "sources" is missing: name a source of adverts, as in "sources: [auto]"; "sources: []" is for a machine that only receives events of others"#,
                #"f:1:1: error: "regions" is missing: list the regions to monitor, each with a name and a uuid"#,
            ])
    }

    @Test(
        "Invalid YAML is reported where it begins, without further guesses",
        arguments: [
            ("a: b: c", "f:1:5: error: this is not YAML: mapping values are not allowed in this context"),
            ("a:\n\tb: c", "f:2:1: error: this is not YAML: found character that cannot start any token"),
            ("- a", "f:1:1: error: the file is a list; write keys with values"),
            ("a: *b", "f:1:4: error: this is not YAML: found undefined alias"),
        ])
    func syntax(_ text: String, _ beginning: String) {
        let lines = ConfigurationBench.lines(text)
        #expect(lines.first?.hasPrefix(beginning) == true, "\(lines)")
    }

    @Test("Unknown variables are reported with a suggestion, and faults in variables by name")
    func environment() {
        let variables = [
            "BEACOND_OUTBOX_PAHT": "/x", "BEACOND_REGIONS_HALL_EXIT_TIMEOUT": "soon", "BEACONS": "other",
            "BEACOND_CONFIG": "/etc/f",
        ]
        #expect(
            ConfigurationBench.lines(ConfigurationBench.start, variables) == [
                "BEACOND_OUTBOX_PAHT in the environment: error: there is no such setting; was BEACOND_OUTBOX_PATH meant?",
                #"BEACOND_REGIONS_HALL_EXIT_TIMEOUT in the environment: error: "exit-timeout" is "soon"; write a span of time from 1s to 1d, such as 30s, 5m or 1h30m"#,
            ])
    }

    @Test("A source without a name is looked up next to the configuration, like a named one (D22)")
    func bareSource() {
        #expect(
            ConfigurationBench.lines("sources: [log.ndjson, { name: b, from: log.ndjson }]\nregions: []") == [
                #"f:1:11: error: "sources" has "log.ndjson", but there is no such file; radios are auto, hci, hci:hci0 and bluez"#,
                #"f:1:40: error: "from" has "log.ndjson", but there is no such file; radios are auto, hci, hci:hci0 and bluez"#,
            ])
        #expect(
            ConfigurationBench.check("sources: [log.ndjson]\nregions: []").configuration.sources.map(\.specification)
                == [.file(path: "/etc/beacons/log.ndjson")])
    }

    @Test("A destination that cannot be built is reported at its place (D17)")
    func building() {
        func lines(_ destinations: String, _ variables: [String: String] = [:]) -> [String] {
            ConfigurationBench.lines(ConfigurationBench.start + "destinations: [\(destinations)]", variables)
        }
        #expect(
            lines("{ name: a, type: webhook, url: 'https://user@example.com' }") == [
                "f:3:16: error: in destinations.a, the address has a user name or a password in it. Send them in a header, "
                    + "from a secret"
            ])
        #expect(
            lines("{ name: a, type: webhook, url: 'https://example.com', secret: { env: S } }", ["S": ""]) == [
                #"f:3:85: error: "secret" comes from S in the environment, where it is empty; write the secret there"#
            ])
        let brokers =
            "{ name: a, type: mqtt, host: b, client-id: x, topic: t }, "
            + "{ name: b, type: mqtt, host: B, port: 1883, client-id: x, topic: t }, "
            + "{ name: c, type: mqtt, host: other, client-id: x, topic: t }"
        #expect(
            lines(brokers) == [
                #"f:3:74: error: in destinations.b, it has the client id "x" at the same broker as "a", and each would be disconnected when the other connects; change the "client-id" of one of them"#,
                #"f:3:74: error: in destinations.b, it publishes below the topic "t" as "a" does, and each would remove the other's retained messages; change the "topic" of one of them"#,
            ])
        let rooms =
            "{ name: a, type: mqtt, host: b, home-assistant: true }, "
            + "{ name: b, type: mqtt, host: b, topic: t, home-assistant: true }"
        #expect(
            lines(rooms) == [
                #"f:3:72: error: in destinations.b, it announces the same devices to Home Assistant as "a" does, and each would remove the other's; set the "client-id" of one of them, or "home-assistant: false""#
            ])
    }

    @Test("Of two destinations at a broker, the one without Home Assistant does not remove the other's devices")
    func announcements() throws {
        func nodes(_ settings: [String]) -> [String?] {
            let items = zip(["a", "b"], settings).map { "{ name: \($0), type: mqtt, host: h, topic: \($0)\($1) }" }
            let text = ConfigurationBench.start + "destinations: [\(items.joined(separator: ", "))]"
            return ConfigurationBench.check(text).configuration.destinations.map { destination in
                guard case .mqtt(let broker) = destination.kind else { return nil }
                return broker.homeAssistant.nodeID
            }
        }
        let machine = nodes([""])[0]
        #expect(nodes([", home-assistant: true", ""]) == [machine, nil])
        #expect(nodes([", home-assistant: false", ", home-assistant: true"]) == [nil, machine])
        // It may have announced before.
        #expect(nodes(["", ""]) == [machine, machine])
        #expect(nodes([", home-assistant: { discovery-prefix: x }", ""]) == [machine, machine])
    }

    @Test("Secrets sent without encryption are a warning and not a fault (D28)")
    func secretsInTheOpen() {
        func check(_ destination: String) -> GatewayConfiguration.Checked {
            ConfigurationBench.check(
                ConfigurationBench.start + "destinations: [{ name: a, \(destination) }]", ["S": "secret"])
        }
        for destination in [
            "type: webhook, url: 'http://example.com', secret: { env: S }",
            "type: webhook, url: 'http://example.com', headers: { x-key: { env: S } }",
            "type: kumulos, url: 'http://10.0.0.1/v1', api-key: { env: S }, secret-key: { env: S }",
            "type: mqtt, host: example.com, user: u, password: { env: S }",
        ] {
            let checked = check(destination)
            #expect(checked.isUsable && checked.diagnostics.map(\.severity) == [.warning], "\(checked.diagnostics)")
            #expect(checked.diagnostics.first?.message.contains("without encryption") == true)
        }
        for destination in [
            "type: webhook, url: 'http://example.com'",
            "type: webhook, url: 'http://localhost:8080', secret: { env: S }",
            "type: webhook, url: 'http://127.0.0.1:8080', secret: { env: S }",
            "type: webhook, url: 'https://example.com', secret: { env: S }",
            "type: mqtt, host: example.com, user: u, password: { env: S }, tls: true",
        ] {
            #expect(check(destination).diagnostics == [], "\(destination)")
        }
    }

    @Test("Aliases that expand to more than memory can hold are refused before expansion (D23)")
    func aliases() {
        var bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
        for level in 1...9 {
            bomb += "a\(level): &a\(level) [\(Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", "))]\n"
        }
        let lines = ConfigurationBench.lines(bomb + "? *a9\n: x")
        #expect(lines == ["f:5:35: error: there are more than 32 aliases (*name); write their values out"])
        // A few aliases are accepted, and a star in other text is not an alias.
        let text = "x: &u '\(Self.uuid)'\nsources: [auto]\nregions: [{ name: '*u *u', uuid: *u }]"
        #expect(ConfigurationBench.lines(text).contains { $0.contains("aliases") } == false)
    }

    @Test("A source that cannot be opened is reported, and a scenario is looked up next to the configuration")
    func sources() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sources-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("{\"beacons\": 3}".utf8).write(to: folder.appendingPathComponent("plan.json"))
        func lines(_ source: String) -> [String] {
            GatewayConfiguration.check(
                "sources: ['\(source)']\nregions: [{ name: a, uuid: \(Self.uuid) }]", folder: folder, environment: [:]
            ).diagnostics.map { $0.text(file: "f") }
        }
        #expect(lines("simulation:museum").isEmpty)
        #expect(lines("simulation:plan.json").first?.hasPrefix("f:1:11: error: \"sources\": ") == true)
        let other = try #require(lines("simulation:other.json").first)
        #expect(other.contains("\"other.json\" is neither a built-in scenario") && other.contains("museum"), "\(other)")
        #expect(lines("hci:eth0").first?.hasPrefix("f:1:11: error: \"sources\": ") == true)
    }

    @Test("No text causes a crash")
    func hostile() {
        for text in [
            "&a [*a]", "? [a]: b", "{{}: 1}", "\u{0}", "regions: [[[[]]]]", "a: !!binary x", "- - - -", "~",
            "\"\\u0000\": 1",
        ] {
            _ = ConfigurationBench.lines(text)
        }
        var text = "a: &a [x]\n"
        // Each line doubles the size of the line before.
        for count in 0..<40 {
            text +=
                "\(count): &a\(count) [*a\(count == 0 ? "" : "\(count - 1)"), *a\(count == 0 ? "" : "\(count - 1)")]\n"
        }
        #expect(!ConfigurationBench.lines(text).isEmpty)
    }
}
