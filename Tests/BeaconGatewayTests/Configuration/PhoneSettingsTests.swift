import BeaconConfiguration
import BeaconEngine
import BeaconMQTT
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import Foundation
import Testing

@testable import BeaconGateway

@Suite("Phones and watches in a configuration")
struct PhoneSettingsTests {
    private static let key = "ec0234a357c8ad05341010a60a397d9b"
    private static let base64 = "7AI0o1fIrQU0EBCmCjl9mw=="

    private static func check(
        _ beacons: String, _ rest: String = "regions: []", key: String = PhoneSettingsTests.key
    ) -> GatewayConfiguration.Checked {
        GatewayConfiguration.check(
            "sources: [hci]\nbeacons:\n\(beacons)\n\(rest)\n", folder: URL(fileURLWithPath: "/"),
            environment: ["ANN_IRK": key, "BOB_IRK": "00112233445566778899aabbccddeeff"])
    }

    @Test("A key is read in both notations and both orders, and gives the same identity", arguments: [key, base64])
    func keys(key: String) throws {
        let checked = Self.check("  - { name: Ann's phone, irk: { env: ANN_IRK }, tracker: true, id: ann }", key: key)
        #expect(checked.diagnostics.isEmpty, "\(checked.diagnostics)")
        let beacon = try #require(checked.configuration.beacons.first)
        let tag = try #require(beacon.tag)
        #expect(beacon.identity == tag.identity && beacon.id == "ann" && checked.configuration.tags == [tag])
        #expect(beacon.region.exitTimeout == .seconds(900) && !beacon.region.isExitAdaptive)
        #expect(checked.configuration.namedBeacons.first?.id == "ann")
    }

    @Test("A list of keys and an address are one tag; the first key names it")
    func several() throws {
        let checked = Self.check(
            """
              - name: Ann
                irk: [{ env: ANN_IRK }, { env: BOB_IRK }]
                address: f0:bb:cc:dd:ee:ff
                exit-timeout: 5m
            """)
        #expect(checked.diagnostics.isEmpty, "\(checked.diagnostics)")
        let tag = try #require(checked.configuration.tags.first)
        #expect(tag.keys.count == 2 && tag.fixedAddress?.bits == 0xF0BB_CCDD_EEFF)
        let single = Self.check("  - { name: Ann, irk: { env: ANN_IRK } }")
        #expect(single.configuration.tags.first?.identity == tag.identity)
        #expect(checked.configuration.beacons.first?.region.exitTimeout == .seconds(300))
    }

    @Test(
        "Faults say what to do, and never show a key",
        arguments: [
            ("  - { name: Ann, irk: ec0234a357c8ad05341010a60a397d9b }", "in plain text"),
            ("  - { name: Ann, irk: [ec0234a357c8ad05341010a60a397d9b] }", "in plain text"),
            ("  - { name: Ann, irk: [] }", "is empty"),
            ("  - { name: Ann, irk: { env: NO_IRK } }", "needs NO_IRK"),
            ("  - { name: Ann, irk: [{ env: BAD }] }", "needs BAD"),
            ("  - { name: Ann, address: ff }", "write an address such as"),
            ("  - { name: Ann, irk: { env: ANN_IRK }, major: 1 }", "remove one of them"),
            ("  - { name: Ann }", "\"uuid\" is missing"),
            ("  - { name: Ann, uuid: e2c56db5-dffb-48d2-b060-d0f5a71096e0 }", "\"major\" is missing"),
            (
                "  - { name: Ann, irk: { env: ANN_IRK } }\n  - { name: Bob, irk: { env: ANN_IRK } }",
                "has the key or address of \"Ann\""
            ),
            (
                "  - { name: Ann, irk: { env: ANN_IRK }, id: x }\n  - { name: Bob, irk: { env: BOB_IRK }, id: x }",
                "has the \"id\" of \"Ann\""
            ),
        ])
    func faults(beacons: String, message: String) {
        let checked = Self.check(beacons)
        #expect(checked.diagnostics.contains { $0.message.contains(message) }, "\(checked.diagnostics)")
        #expect(!"\(checked.diagnostics)".contains("ec0234"))
    }

    @Test("A secret that is no key is a fault, which does not show it")
    func badKey() {
        let checked = Self.check("  - { name: Ann, irk: { env: ANN_IRK } }", key: "ec0234a357c8ad05")
        #expect(checked.diagnostics.map(\.message).contains { $0.contains("32 hexadecimal digits") })
        #expect(!"\(checked.diagnostics)".contains("ec0234"))
    }

    @Test("A region of a named beacon has its identity, and a tag's time to be silent")
    func regions() throws {
        let checked = Self.check(
            """
              - { name: Ann, irk: { env: ANN_IRK } }
              - { name: keys, uuid: e2c56db5-dffb-48d2-b060-d0f5a71096e0, major: 1, minor: 2 }
            """,
            """
            regions:
              - { name: Ann at home, beacon: Ann, adaptive-exit: true }
              - { name: Ann near, beacon: Ann, exit-timeout: 2m }
              - { name: keys, beacon: keys }
            places:
              - { name: hall, receivers: [hci0] }
            """)
        #expect(checked.diagnostics.isEmpty, "\(checked.diagnostics)")
        let tag = try #require(checked.configuration.tags.first)
        let regions = checked.configuration.regions.map(\.region)
        #expect(regions.map(\.exitTimeout) == [.seconds(900), .seconds(120), .seconds(30)])
        #expect(regions[0].constraint == BeaconConstraint(tag.identity) && !regions[0].isExitAdaptive)
        #expect(regions[2].constraint.minor == 2)
        #expect(checked.configuration.places?.rules.exitTimeouts == [tag.identity: .seconds(900)])
        for (region, message) in [
            ("{ name: x, beacon: Anne }", "was \"Ann\" meant"), ("{ name: x }", "\"uuid\" is missing"),
            (
                "{ name: x, beacon: Ann, uuid: e2c56db5-dffb-48d2-b060-d0f5a71096e0 }",
                "cannot be combined with \"beacon\""
            ),
        ] {
            let faulty = Self.check("  - { name: Ann, irk: { env: ANN_IRK } }", "regions:\n  - \(region)")
            #expect(faulty.diagnostics.contains { $0.message.contains(message) }, "\(faulty.diagnostics)")
        }
    }

    @Test("The console shows neither key nor address, and adds no phones; its regions may name one")
    func console() throws {
        let checked = Self.check("  - { name: Ann, irk: { env: ANN_IRK }, address: f0:bb:cc:dd:ee:ff }")
        let shown = try #require(checked.configuration.registeredBeacons(TagDirectory()).first?.settings)
        #expect(!"\(shown)".contains("IRK") && !"\(shown)".contains("f0:bb"))
        let phone = ConfigurationItem(
            kind: .beacon, name: "Bob",
            settings: .object(["name": .string("Bob"), "irk": .object(["env": .string("BOB_IRK")])]), origin: .console)
        let region = ConfigurationItem(
            kind: .region, name: "home", settings: .object(["name": .string("home"), "beacon": .string("Ann")]),
            origin: .console)
        let other = ConfigurationItem(
            kind: .region, name: "else", settings: .object(["name": .string("else"), "beacon": .string("Bob")]),
            origin: .console)
        let whole = checked.configuration.adding([phone, region, other])
        #expect(whole.items.first { $0.name == "Bob" }?.fault?.contains("belongs in the file") == true)
        #expect(whole.regions.map(\.name) == ["home"] && whole.regions[0].region.exitTimeout == .seconds(900))
        #expect(whole.items.first { $0.name == "else" }?.fault?.contains("no beacon of this name") == true)
    }
}
