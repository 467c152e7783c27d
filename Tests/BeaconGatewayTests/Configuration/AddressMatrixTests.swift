import BeaconBroker
import BeaconFleet
import BeaconGateway
import BeaconMonitoring
import BeaconNATS
import BeaconReceivers
import BeaconRelay
import BeaconSupport
import GatewayTestSupport
import Testing

/// All readers of network addresses in one table, with the spellings that users write.
@Suite("Addresses of servers")
struct AddressMatrixTests {
    /// A reader: its name, and the host and port that it reads, or its errors and titles.
    struct Reader: Sendable, CustomTestStringConvertible {
        var name: String
        /// True for a field that contains only a host, and not for a part of a URL or a list.
        var isField = false
        /// Nil as the port stands for the reader's default.
        var read: @Sendable (String) throws -> (host: String, port: Int?)
        var testDescription: String { name }
    }

    private struct Refusal: Error { var text: String }

    static let readers = [
        Reader(name: "source") { text in
            let source = SourceSpecification("mqtt://\(text)")
            do { try source.validate() } catch { throw Refusal(text: "\(error) \(source.title) \(source)") }
            guard let broker = source.network as? BrokerSource else { throw Refusal(text: "\(source)") }
            return (broker.options.host, broker.options.port.map(Int.init))
        },
        Reader(name: "relay") { text in
            let options = try Relay.Options(broker: "mqtt://\(text)", name: "r")
            return try parts(options.title)
        },
        Reader(name: "fleet") { text in
            guard case .nats(let options) = try FleetSettings("nats://\(text)").transport else {
                throw Refusal(text: "no servers")
            }
            let (host, port) = try parts(String(options.title))
            return (host, port == 4222 ? nil : port)
        },
        Reader(
            name: "setup", isField: true,
            read: { text in
                let broker = try GuidedStart.Choice.Broker(text)
                return (broker.host, broker.port)
            }),
        Reader(
            name: "ESPHome",
            read: { text in
                let source = SourceSpecification("esphome:\(text)")
                do { try source.validate() } catch { throw Refusal(text: "\(error) \(source.title)") }
                guard let node = (source.network as? ESPHomeSource)?.nodes.first else { throw Refusal(text: "no node") }
                return (node.host, node.port == ESPHomeSource.port ? nil : Int(node.port))
            }),
        Reader(
            name: "console", isField: true,
            read: { text in
                guard let settings = WebSettings(listening: text) else { throw Refusal(text: "none") }
                return (settings.host, settings.port == WebSettings.defaultPort ? nil : settings.port)
            }),
    ]

    private static func parts(_ title: String) throws -> (String, Int?) {
        let address = try HostAndPort(title)
        return (address.host, address.port.map(Int.init))
    }

    @Test(
        "Every reader reads every spelling as the same host and port", arguments: readers,
        [
            ("hall", "hall", nil), ("hall:1234", "hall", 1234), ("10.0.0.2:1234", "10.0.0.2", 1234),
            ("[::1]", "::1", nil), ("[::1]:1234", "::1", 1234), ("[fe80::1%25eth0]:1234", "fe80::1%eth0", 1234),
            ("[fe80::1%eth0]:1234", "fe80::1%eth0", 1234),
        ] as [(String, String, Int?)])
    func spellings(reader: Reader, spelling: (text: String, host: String, port: Int?)) throws {
        let (host, port) = try reader.read(spelling.text)
        #expect(host == spelling.host && port == spelling.port)
    }

    @Test(
        "An IPv6 address without brackets is accepted in a host field, and refused in URLs and lists",
        arguments: readers, ["::1", "fe80::1%eth0", "::1:1234"])
    func bareAddresses(reader: Reader, text: String) throws {
        if reader.isField {
            let (host, port) = try reader.read(text)
            #expect(host == text && port == nil)
            return
        }
        let error = #expect(throws: (any Error).self) { try reader.read(text) }
        let message = (error as? Refusal)?.text ?? "\(error.map { "\($0)" } ?? "")"
        #expect(message.contains("write an IPv6 address in brackets"), "\(message)")
    }

    @Test(
        "Every reader refuses an address without a host, or with a colon but no port", arguments: readers,
        ["", ":1234", "hall:x", "hall:65536", "hall:1:2", "[::1", "[hall]", "a b"])
    func mistakes(reader: Reader, text: String) {
        // Without a name, ESPHome's devices are discovered.
        guard reader.name != "ESPHome" || !text.isEmpty else { return }
        #expect(throws: (any Error).self) { try reader.read(text) }
    }

    /// Returns a password of rare characters, so that four in a row can only come from it, and of characters with a
    /// meaning in addresses.
    private static func password(_ generator: inout SplitMix64) -> String {
        let rare = Array("ΞЖҖ木🦊Ω§¤ǅ"), special = Array("/@:?#%[]{}\\\"' ,;&=+$!|<>^`~.*\n\t\u{1B}1")
        return String(
            (0..<Int.random(in: 4...12, using: &generator)).map { index in
                (index % 2 == 0 ? rare : special).randomElement(using: &generator) ?? "Ξ"
            })
    }

    @Test("No error and no title contains a password or four of its characters", arguments: readers)
    func secrets(reader: Reader) throws {
        var generator = SplitMix64(seed: 32)
        for round in 0..<2000 {
            let password = Self.password(&generator)
            let escaped = password.utf8.map { "%" + (($0 < 16) ? "0" : "") + String($0, radix: 16) }.joined()
            let written = round % 4 == 0 ? escaped : password
            let text = "ann:\(written)@hall\(["", ":1234", "/topic", ":x"][round % 4])"
            let outputs: [String]
            do {
                let (host, port) = try reader.read(text)
                outputs = ["\(host) \(port ?? 0)"]
            } catch let refusal as Refusal {
                outputs = [refusal.text]
            } catch {
                outputs = ["\(error)", String(reflecting: error)]
            }
            for output in outputs { Self.expectNone(of: password, in: output, text) }
        }
    }

    @Test("No diagnostic of a configuration contains a password or four of its characters")
    func diagnostics() throws {
        var generator = SplitMix64(seed: 33)
        for _ in 0..<300 {
            let password = Self.password(&generator)
            // In YAML quotation marks.
            let quoted = password.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing(
                "\n", with: "\\n"
            )
            .replacing("\t", with: "\\t").replacing("\u{1B}", with: "\\e")
            let address = "ann:\(quoted)@hall"
            for line in [
                "sources: [\"mqtt://\(address)\"]", "sources: [\"mqttt://\(address)\"]", "fleet: \"nats://\(address)\"",
                "fleet: { servers: \"nats://\(address)\" }", "sources: [{ name: a, mqtt: { host: \"\(address)\" } }]",
                "destinations: [{ name: a, type: mqtt, host: \"mqtt://\(address)\" }]",
                "destinations: [{ name: a, type: mqtt, host: \"\(address)\" }]",
                "destinations: [{ name: a, type: webhook, url: \"https://\(address)\" }]",
                "destinations: [{ name: a, type: webhook, url: \"https://h\", proxy: \"http://\(address)\" }]",
            ] {
                let rest = line.hasPrefix("sources") ? "" : "sources: [auto]\n"
                let checked = ConfigurationBench.check(
                    "\(rest)regions: [{ name: hall, uuid: \(ConfigurationBench.uuid) }]\n\(line)")
                for diagnostic in checked.diagnostics { Self.expectNone(of: password, in: "\(diagnostic)", line) }
            }
        }
    }

    private static func expectNone(of password: String, in output: String, _ text: String) {
        let characters = Array(password)
        for start in 0...characters.count - 4 {
            let piece = String(characters[start..<start + 4])
            if output.contains(piece) { Issue.record("\(output) of \(text)") }
        }
    }
}
