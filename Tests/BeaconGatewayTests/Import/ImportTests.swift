import BeaconConfiguration
import BeaconEngine
import BeaconMQTT
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation
import TestSupport
import Testing

@testable import BeaconGateway

/// The configurations of other programs, in `Tests/Golden/import`.
///
/// `BEACON_WRITE_GOLDEN=1` rewrites the expected output. Read the difference before you commit it.
@Suite("Imports")
struct ImportTests {
    static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().appendingPathComponent("../../Golden/import").standardizedFileURL

    /// An import: its name, and its files.
    struct Case: CustomTestStringConvertible {
        var name: String
        var files: [String]
        var kinds: [ImportKind]
        var testDescription: String { name }

        func house() throws -> ImportedHouse {
            try ImportedHouse(inputs())
        }

        func inputs() throws -> [ImportInput] {
            // Messages have paths, which must be the same on each machine.
            try files.map { file in
                var input = try ImportInput(path: ImportTests.folder.appendingPathComponent(file).path)
                input.path = file
                return input
            }
        }
    }

    static let cases = [
        Case(name: "companion", files: ["companion.yaml"], kinds: [.companion]),
        Case(name: "espresense", files: ["espresense.txt"], kinds: [.espresense]),
        Case(
            name: "companion-and-espresense", files: ["espresense.txt", "companion.yaml"],
            kinds: [.espresense, .companion]),
        Case(name: "bermuda", files: ["bermuda"], kinds: [.bermuda]),
        Case(name: "room-assistant", files: ["room-assistant.yml"], kinds: [.roomAssistant]),
        Case(name: "theengs", files: ["theengsgw.conf"], kinds: [.theengs]),
        Case(name: "monitor", files: ["monitor"], kinds: [.monitor]),
        Case(name: "mqtt-room", files: ["mqtt-room.yaml"], kinds: [.mqttRoom]),
    ]

    private static func check(_ files: ImportedFiles, in folder: URL = folder) -> GatewayConfiguration.Checked {
        GatewayConfiguration.check(files.configuration, folder: folder, environment: files.secrets)
    }

    @Test("The kind is recognized by the content, and the result is as expected", arguments: cases)
    func golden(_ one: Case) throws {
        #expect(try one.inputs().map { $0.kind() } == one.kinds)
        let files = try one.house().files(nil)
        let expected = Self.folder.appendingPathComponent("expected/\(one.name).yaml")
        let text = files.configuration + "\n# Taken over: \(files.taken.joined(separator: ", ")).\n"
        if ProcessInfo.processInfo.environment["BEACON_WRITE_GOLDEN"] != nil {
            try text.write(to: expected, atomically: true, encoding: .utf8)
        }
        #expect(text == (try String(contentsOf: expected, encoding: .utf8)))
    }

    @Test("beacond check accepts the result, printed and written", arguments: cases)
    func accepted(_ one: Case) throws {
        let house = try one.house()
        for diagnostic in Self.check(try house.files(nil)).diagnostics where diagnostic.severity == .error {
            Issue.record("\(diagnostic.text(file: one.name))")
        }
        let folder = try TemporaryFolder()
        let files = try house.files(.init(beside: "/etc/beacond.yaml"))
        try files.calibration?.write(
            to: folder.url.appendingPathComponent("beacond.calibration.json"), atomically: true, encoding: .utf8)
        let checked = Self.check(files, in: folder.url)
        for diagnostic in checked.diagnostics where diagnostic.severity == .error {
            Issue.record("\(diagnostic.text(file: one.name))")
        }
        #expect(checked.configuration.calibrations.isEmpty == (files.calibration == nil))
        #expect(checked.configuration.beacons.count == house.beacons.count)
    }

    @Test("No secret is in the configuration", arguments: cases)
    func secrets(_ one: Case) throws {
        let files = try one.house().files(nil)
        let hidden = [
            "pa ss#1", "hidden", "s3cret", "ec0234a357c8ad05341010a60a397d9b", "2b7e151628aed2a6abf7158809cf4f3c",
            "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
        ]
        for secret in hidden {
            #expect(!files.configuration.contains(secret))
            #expect(!files.lost.joined().contains(secret) && !files.taken.joined().contains(secret))
        }
    }

    @Test(
        "Each key that the fixtures have is taken over or named in a comment, an unknown one too",
        arguments: [
            (
                "companion",
                [
                    "gps", "wall_thickness", "wall_color", "wall_opacity", "timeout", "device_retention",
                    "optimization",
                    "locators", "filtering", "history", "moods", "color", "shape", "nodes (Car)", "nodes (Attic)",
                    "floors (Upper Floor)", "devices (*)", "devices (irk:*)", "devices (tile:*)", "devices (Bag)",
                    "exclude_devices (iBeacon:e5ca1ade-f007-ba11-0000-000000000000-*)", "client_id",
                ]
            ),
            (
                "espresense",
                [
                    "status", "max_distance", "absorption", "tx_ref_rssi", "ref_rssi", "rx_adj_rssi (4)", "exclude",
                    "skip_ms", "color", "connect", "x", "y", "z", "mood", "settings.tile:0011223344", "settings.irk:…",
                    "espresense/leases/one",
                ]
            ),
            (
                "bermuda",
                [
                    "attenuation", "ref_power", "max_area_radius", "max_velocity", "smoothing_samples",
                    "update_interval",
                    "mood", "configured_devices (nonsense)", "rssi_offsets (112233445566)", "ignore_addresses",
                    "allow_nameless_uuids", "shelly (Plug Bath)", "esphome (attic-proxy)",
                ]
            ),
            (
                "room-assistant",
                [
                    "apiPort", "rejectUnauthorized", "sendAttributes", "allowlist (my-app-id)",
                    "denylist (aabbccddeeff)",
                    "processIBeacon", "updateFrequency", "maxDistance", "rssiFactor", "majorMask", "minorMask",
                    "batteryMask", "mood", "bluetoothClassic", "cluster",
                ]
            ),
            (
                "theengs",
                [
                    "ble_scan_time", "ble_time_between_scans", "subscribe_topic", "presence_topic", "presence",
                    "publish_all", "log_level", "discovery", "adapter (hci0)", "bindkeys", "whitelist",
                    "identities (bad)",
                    "mood",
                ]
            ),
            (
                "monitor",
                [
                    "known_beacon_addresses (nonsense)", "known_static_addresses (34:08:BC:15:24:F7 Phone)",
                    "mqtt_topicpath", "PREF_ARRIVAL_SCAN_ATTEMPTS", "PREF_MOOD",
                ]
            ),
            ("mqtt-room", ["state_topic", "timeout", "mood", "device_id (phone:ben)"]),
        ])
    func matrix(name: String, lost: [String]) throws {
        let one = try #require(Self.cases.first { $0.name == name })
        let files = try one.house().files(nil)
        // Words may be on two lines of a comment.
        let comments = files.configuration.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { $0.hasPrefix("#") }.map { $0.drop { $0 == "#" || $0 == " " } }.joined(separator: " ")
        for key in lost {
            #expect(files.lost.contains { $0 == key || $0.hasSuffix("." + key) }, "\(key) is not in \(files.lost)")
            #expect(comments.contains(key), "\(key)")
        }
    }

    /// For each program: the keys of its fixture that are taken over, so that every key is either here or named.
    private static let taken: [String: Set<String>] = [
        "companion": [
            "mqtt", "host", "port", "ssl", "username", "password", "discovery_topic", "map", "flip_x", "flip_y",
            "away_timeout", "floors", "bounds", "rooms", "points", "name", "id", "nodes", "point", "stationary",
            "enabled",
            "devices", "exclude_devices",
        ],
        "room-assistant": [
            "global", "instanceName", "integrations", "homeAssistant", "mqttUrl", "mqttOptions", "username", "password",
            "discoveryPrefix", "bluetoothLowEnergy", "hciDeviceId", "allowlist", "whitelist", "denylist", "timeout",
            "tagOverrides", "name", "measuredPower", "id", "7750fb4dab70", "e2c56db5dffb48d2b060d0f5a71096e0-1-7",
        ],
        "theengs": [
            "host", "port", "user", "pass", "publish_topic", "lwt_topic", "discovery_topic", "adapter", "identities",
            "tracker_timeout", "F0:5C:77:01:02:03", "bad", "enable_tls", "A4:C1:38:00:00:01",
        ],
    ]

    @Test("Nothing is dropped silently", arguments: ["companion", "room-assistant", "theengs"])
    func complete(name: String) throws {
        let one = try #require(Self.cases.first { $0.name == name })
        let lost = try one.house().lost
        let text = try #require(try one.inputs().first?.texts.values.first)
        let content = try #require(ImportedHouse.json(text) ?? ImportInput.yaml(text))
        guard case .object(let values) = content else { return }
        func isNamed(_ path: String, _ key: String) -> Bool {
            Self.taken[name]?.contains(key) == true || lost.contains { $0 == path || path.hasPrefix($0 + ".") }
        }
        func visit(_ values: [String: JSONValue], _ path: String) {
            for (key, value) in values where !value.saysNothing {
                let own = path.isEmpty ? key : "\(path).\(key)"
                // Parts of a setting that was left out as a whole need no word.
                #expect(isNamed(own, key) || lost.contains { $0.hasSuffix(key) }, "\(own)")
                let isWhole = lost.contains(own) || lost.contains { $0.hasSuffix(".\(key)") || $0 == key }
                guard !isWhole else { continue }
                switch value {
                case .object(let inner): visit(inner, own)
                case .array(let items):
                    for case .object(let inner) in items { visit(inner, own) }
                default: break
                }
            }
        }
        visit(values, "")
    }

    // MARK: - What is easily wrong

    @Test("Bermuda adds its offsets, and beacond subtracts: the sign changes")
    func signOfBermuda() throws {
        let house = try #require(try Self.cases.first { $0.name == "bermuda" }?.house())
        #expect(house.offsets == ["hall-proxy": -6, "kitchen-proxy": 3])
        // At a reading of −70 dBm, Bermuda computes with −64.
        #expect(-70 - (house.offsets["hall-proxy"] ?? 0) == -64)
        #expect(house.places.map(\.name) == ["Hall", "Küche"])
        #expect(house.places.map(\.receivers) == [["hall-proxy"], ["kitchen-proxy"]])
    }

    @Test("Boards with ESPresense have subtracted their adjustment, so that it becomes no offset")
    func signOfESPresense() throws {
        let house = try #require(try Self.cases.first { $0.name == "espresense" }?.house())
        #expect(house.offsets.isEmpty)
        let text = try house.files(nil).configuration
        #expect(text.contains("\"hall\": { \"offset\": 4 }"))
    }

    @Test(
        "The axes of the plan are flipped as Companion's map is",
        arguments: [(false, true, [1.0, 5.0]), (false, false, [1, 1]), (true, true, [9, 5]), (true, false, [9, 1])])
    func axes(flipsX: Bool, flipsY: Bool, hall: [Double]) throws {
        let file = Self.folder.appendingPathComponent("companion.yaml")
        let text = try String(contentsOf: file, encoding: .utf8)
            .replacing("flip_x: false", with: "flip_x: \(flipsX)").replacing("flip_y: true", with: "flip_y: \(flipsY)")
        let plan = try #require(try ImportedHouse([ImportInput(path: "c.yaml", text: text)]).plan)
        #expect(plan.mistake == nil)
        #expect((plan.width, plan.height) == (10, 6))
        #expect(plan.receivers["hall"] == hall + [1.5])
        // The kitchen's first corner is at (3, 0) of Companion.
        #expect(plan.rooms[1].polygon[0] == [flipsX ? 6 : 4, flipsY ? 6 : 0])
    }

    @Test("A node is in the room of its floor that holds it, and reserved names get another one")
    func rooms() throws {
        let house = try #require(try Self.cases.first { $0.name == "companion" }?.house())
        let places = Dictionary(uniqueKeysWithValues: house.places.map { ($0.name, $0.receivers) })
        #expect(
            places == [
                "Hall (Ground Floor)": ["hall"], "Kitchen": ["stove"], "Home room": ["home_office"],
                "Hall (Upper Floor)": ["landing"],
            ])
    }

    @Test("Home Assistant keeps the entities of Companion and room-assistant, but never a key in their ids")
    func entities() throws {
        let companion = try #require(try Self.cases.first { $0.name == "companion" }?.house())
        let id = "iBeacon:e2c56db5-dffb-48d2-b060-d0f5a71096e0-1-7"
        #expect(
            companion.beacons.map(\.uniqueIDs) == [
                [:], ["device": "espresense-\(id)", "tracker": "espresense-companion-\(id)"],
            ])
        let assistant = try #require(try Self.cases.first { $0.name == "room-assistant" }?.house())
        let checked = Self.check(try assistant.files(nil))
        let keys = try #require(checked.configuration.beacons.first { $0.name == "Keys" })
        #expect(
            keys.uniqueIDs == [
                "device": "keys_1", "place": "room-assistant-ble-keys-1",
                "tracker": "room-assistant-ble-keys-1-tracker",
            ])
        let named = try #require(checked.configuration.namedBeacons.first { $0.name == "Keys" })
        #expect(named.uniqueIDs == keys.uniqueIDs)
    }

    @Test("What two programs know of one device is put together")
    func together() throws {
        let house = try #require(try Self.cases.first { $0.name == "companion-and-espresense" }?.house())
        let keys = try #require(house.beacons.first { $0.name == "Keys" })
        #expect(keys.power == -57 && keys.uniqueIDs["tracker"] == "espresense-companion-keys:ann")
        #expect(house.sources.count == 1)
        // Companion's rooms come first, and the boards' rooms are for receivers that have none.
        #expect(house.places.contains { $0.receivers == ["cook_corner"] })
        #expect(house.places.contains { $0.name == "Hall (Ground Floor)" && $0.receivers == ["hall"] })
    }

    @Test("A file of no known kind is refused with what was looked for")
    func unknown() {
        for text in ["", "a: b", "hello", "{\"a\":1}", "- x", "\u{0}\u{1}", "{"] {
            let error = #expect(throws: ImportError.self) { try ImportedHouse([ImportInput(path: "x", text: text)]) }
            #expect(error?.code == .unrecognized)
            #expect(error?.description.contains("espresense/") == true)
        }
    }

    @Test(
        "A number of any size is read, and named if it is no port",
        arguments: ["1e30", "-1e30", "70000", ".nan", "-.inf", "infinity", "0x7fffffffffffffff"])
    func unbounded(_ number: String) throws {
        let entries = """
            {"data":{"entries":[{"domain":"mqtt","data":{"broker":"a","port":"\(number)"}},\
            {"domain":"bermuda","options":{"attenuation":"\(number)"}}]}}
            """
        let inputs = [
            ("config.yaml", "mqtt: { host: a, port: \(number) }\nnodes: []", true),
            ("core.config_entries", entries, true),
            ("theengsgw.conf", "host: a\nport: \(number)\npublish_topic: home/a", true),
            ("mqtt_preferences", "mqtt_address=a\nmqtt_port=\(number)", true),
            ("local.yml", "bluetoothLowEnergy: { hciDeviceId: \(number), timeout: \(number) }", false),
            ("topics", "espresense/rooms/x/absorption \(number)\nespresense/rooms/x/rx_adj_rssi \(number)", false),
        ]
        for (name, text, hasPort) in inputs {
            let files = try ImportedHouse([ImportInput(path: name, text: text)]).files(nil)
            #expect(files.lost.contains("port (\(number))") == hasPort, "\(name): \(files.lost)")
            #expect(Self.check(files).isUsable, "\(files.configuration)")
        }
    }

    @Test("A floor without a usable size is named")
    func unboundedFloor() throws {
        let text = "floors: [{ name: Field, bounds: [[-1e308, 0], [1e308, 9]] }]"
        let files = try ImportedHouse([ImportInput(path: "config.yaml", text: text)]).files(nil)
        #expect(files.plan == nil && files.lost == ["floors (Field)"], "\(files.lost)")
    }

    @Test("Damaged files cause errors and no traps, whatever they are said to be", arguments: ImportKind.allCases)
    func damaged(_ kind: ImportKind) throws {
        var random = SplitMix64(seed: 1)
        let texts =
            try Self.cases.flatMap { try $0.inputs().flatMap(\.texts.values) } + ["", "[]", "{}", "null", "- - -"]
        for text in texts {
            for _ in 0..<12 {
                var bytes = Array(text.utf8)
                for _ in 0..<Int.random(in: 0...6, using: &random) where !bytes.isEmpty {
                    let index = Int.random(in: bytes.indices, using: &random)
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                    case 1: bytes.remove(at: index)
                    default: bytes.removeSubrange(index..<min(bytes.count, index + 40))
                    }
                }
                let input = ImportInput(path: "x", text: String(decoding: bytes, as: UTF8.self))
                guard let house = try? ImportedHouse([input], as: kind) else { continue }
                let files = try house.files(nil)
                for diagnostic in Self.check(files).diagnostics where diagnostic.severity == .error {
                    Issue.record("\(diagnostic.text(file: "x"))\n\(files.configuration)")
                }
            }
        }
    }
}
