import BeaconBroker
import BeaconConfiguration
import BeaconMonitoring
import BeaconReceivers
import Foundation
import GatewayTestSupport
import Testing

@testable import BeaconGateway

@Suite("Configurations: brokers as sources")
struct BrokerSourceTests {
    private static func sources(_ text: String, _ environment: [String: String] = [:]) throws -> [SourceSettings] {
        let checked = ConfigurationBench.check(
            "\(text)\nregions: [{ name: hall, uuid: \(ConfigurationBench.uuid) }]", environment)
        #expect(checked.diagnostics.isEmpty, "\(checked.diagnostics)")
        return checked.configuration.sources
    }

    @Test("Given keys are used, and receivers keep their own names")
    func values() throws {
        let source = try #require(
            try Self.sources(
                """
                sources:
                  - name: rooms
                    mqtt: { host: broker, port: 1884, user: hall, password: { env: PASSWORD }, client-id: us, tls: true }
                    topics: [home/+/BTtoMQTT/#, home/+/LWT]
                    receivers: { C8:25:2D:8E:9C:2C: cellar }
                    empty-after: 2m
                    mapping: { receiver-level: 2, each: list, rssi: r, data: d, encoding: base64, time: t, address: a }
                """, ["PASSWORD": "s3cret"]
            ).first)
        #expect(source.name == "rooms" && source.receiver == nil && source.pace == .times(1))
        let broker = try #require(source.specification.network as? BrokerSource)
        #expect(broker.options.host == "broker" && broker.options.port == 1884 && broker.options.clientID == "us")
        #expect(broker.options.user == "hall" && broker.options.password == Secret("s3cret"))
        #expect(broker.options.tls != nil && !broker.options.announcesAvailability)
        #expect(broker.filters == ["home/+/BTtoMQTT/#", "home/+/LWT"])
        #expect(broker.network.names == ["C8:25:2D:8E:9C:2C": "cellar"])
        #expect(broker.network.emptyAfter == 120_000_000_000)
        let mapping = try #require(broker.network.mapping)
        #expect(mapping.receiver == .level(2) && mapping.each == JSONPath("list") && mapping.encoding == .base64)
        #expect(source.specification.isRadio && !source.specification.canSend)
    }

    @Test("An address has every setting of the mapping, with the same result")
    func address() throws {
        let words = ["host", "port", "user", "password", "tls"]
        let keys = Set((MQTTSettings.keys.map(\.key) + MQTTTLSSettings.grammar.settings.map(\.key))).subtracting(words)
        #expect(keys == Set(ConnectionOption.allCases.map(\.rawValue)))
        let values = [
            "version": "3.1.1", "client-id": "hall 1", "keep-alive": "90s", "ca-file": "/etc/passwd",
            "certificate-file": "/etc/hosts", "key-file": "/etc/group",
        ]
        #expect(Set(values.keys) == keys)
        let query = values.map { "\($0.key)=\($0.value.replacing(" ", with: "%20"))" }.joined(separator: "&")
        func pairs(ofTLS: Bool) -> String {
            ConnectionOption.allCases.filter { $0.isOfTLS == ofTLS }.map(\.rawValue)
                .map { "\($0): \"\(values[$0] ?? "")\"" }.joined(separator: ", ")
        }
        let options = try [
            "from: \"mqtts://u:s3cret@h:1?\(query)\"",
            "mqtt: { host: h, port: 1, user: u, password: { env: P }, \(pairs(ofTLS: false)), "
                + "tls: { \(pairs(ofTLS: true)) } }",
        ].map { text in
            let source = try Self.sources("sources: [{ name: a, \(text) }]", ["P": "s3cret"]).first
            return try #require(source?.specification.network as? BrokerSource).options
        }
        #expect(options.first == options.last && options.first?.tls?.keyFile == "/etc/group", "\(options)")
    }

    @Test("A mapping has bytes, fields, or both")
    func mappings() throws {
        func mapping(_ text: String) throws -> ReceiverMapping {
            let sources = try Self.sources(
                "sources: [{ name: a, mqtt: { host: b }, mapping: { receiver: r, rssi: s, \(text) } }]")
            return try #require((sources.first?.specification.network as? BrokerSource)?.network.mapping)
        }
        let fields = try mapping("uuid: i.u, major: i.a, minor: i.b, power: i.p, state: i.s, each: l, time: t")
        #expect(fields.uuid == JSONPath("i.u") && fields.major == JSONPath("i.a") && fields.minor == JSONPath("i.b"))
        #expect(fields.power == JSONPath("i.p") && fields.state == JSONPath("i.s") && fields.data == nil)
        #expect(fields.each == JSONPath("l") && fields.time == JSONPath("t"))
        let both = try mapping("uuid: u, major: a, minor: b, data: d, encoding: base64")
        #expect(both.uuid == JSONPath("u") && both.data == JSONPath("d") && both.encoding == .base64)
    }

    @Test("A single word is enough, and its password never appears")
    func word() throws {
        let source = try #require(try Self.sources("sources: [\"mqtt://hall:s3cret@broker:1884/a/+,b/#\"]").first)
        #expect(source.name == "broker:1884")
        let broker = try #require(source.specification.network as? BrokerSource)
        #expect(broker.options.password == Secret("s3cret") && broker.filters == ["a/+", "b/#"])
        #expect(!"\(source)".contains("s3cret"))
        let named = try #require(
            try Self.sources("sources: [{ name: rooms, from: \"mqtts://[::1]\", empty-after: off }]").first)
        let namedBroker = try #require(named.specification.network as? BrokerSource)
        #expect(namedBroker.options.host == "::1" && namedBroker.options.tls != nil)
        #expect(namedBroker.network.emptyAfter == .max)
    }

    @Test(
        "Mistakes are reported at their lines",
        arguments: [
            ("{ name: a, mqtt: { port: 1 } }", "in sources.a.mqtt, \"host\" is missing"),
            ("{ name: a, mqtt: { host: b, hots: c } }", "there is no key \"hots\" here; was \"host\" meant?"),
            ("{ name: a, mqtt: { host: b }, from: hci }", "\"from\" and \"mqtt\" are two sources"),
            ("{ name: a, mqtt: { host: b }, esphome: { hosts: [c] } }", "\"mqtt\" and \"esphome\" are two sources"),
            ("{ name: a, esphome: { hosts: [c], key: short } }", "is in plain text here"),
            ("{ name: a, esphome: { hosts: [\"c:0\"] } }", "\"c:0\": the port is not valid"),
            ("{ name: a, esphome: { host: c } }", "there is no key \"host\" here; was \"hosts\" meant?"),
            ("{ name: a, from: hci, topics: [b] }", "\"topics\" is for the receivers of a broker"),
            ("{ name: a, mqtt: { host: b }, topics: [c#] }", "has a # that is not its last level"),
            ("{ name: a, mqtt: { host: b }, mapping: { rssi: r, data: d } }", "name the receiver in one way"),
            ("{ name: a, mqtt: { host: b }, mapping: { receiver: r, data: d } }", "\"rssi\" is missing"),
            ("{ name: a, mqtt: { host: b }, mapping: { receiver: r, rssi: s } }", "specify the advert"),
            (
                "{ name: a, mqtt: { host: b }, mapping: { receiver: r, rssi: s, uuid: u, major: a } }",
                "\"minor\" is missing"
            ),
            (
                "{ name: a, mqtt: { host: b }, mapping: { receiver: r, rssi: s, data: d, power: a..b } }",
                "keys with dots between them"
            ),
            (
                "{ name: a, mqtt: { host: b }, mapping: { receiver: a..b, rssi: r, data: d } }",
                "keys with dots between them"
            ),
            ("\"mqtt://\"", "host is empty"),
            ("{ name: a, esphome: { hosts: [c] }, topics: [b] }", "\"topics\" is for the receivers of a broker"),
            ("{ name: a, http: { }, topics: [b] }", "\"topics\" is for the receivers of a broker"),
            ("{ name: a, http: { }, mapping: { receiver-level: 1, rssi: r, data: d } }", "write \"receiver\" or"),
            ("{ name: a, http: { } }", "\"token\" is missing"),
            ("{ name: a, http: { token: short } }", "is in plain text here"),
            ("{ name: a, http: { token: { env: NONE } } }", "NONE"),
            ("{ name: a, http: { tokn: b } }", "was \"token\" meant?"),
            ("{ name: a, http: { }, mqtt: { host: b } }", "\"mqtt\" and \"http\" are two sources"),
            ("{ name: a, http: { token: { file: /dev/null } } }", "gateways that post need the console"),
        ])
    func mistakes(source: String, message: String) {
        let lines = ConfigurationBench.lines(
            "sources: [\(source)]\nregions: [{ name: hall, uuid: \(ConfigurationBench.uuid) }]")
        #expect(lines.contains { $0.contains(message) }, "\(lines)")
    }
}
