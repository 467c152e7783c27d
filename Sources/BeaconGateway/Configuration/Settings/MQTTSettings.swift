import BeaconConfiguration
public import BeaconDelivery
import BeaconMQTT
import Yams

/// The settings of an MQTT broker.
public struct MQTTSettings: Hashable, Sendable {
    /// The version of the protocol.
    public enum Version: String, Hashable, Sendable, CaseIterable {
        /// MQTT 3.1.1.
        case v3 = "3.1.1"
        /// MQTT 5.
        case v5 = "5"
    }

    /// Files for TLS.
    public struct TLS: Hashable, Sendable {
        /// The certificates (PEM) that are trusted in place of the machine's.
        public var authorityFile: String?
        /// The gateway's own certificate, where the broker asks for one.
        public var certificateFile: String?
        /// The certificate's key.
        public var keyFile: String?

        /// Creates the settings of TLS that trusts the machine's certificates.
        public init() {}
    }

    /// The settings of discovery by Home Assistant.
    public struct HomeAssistant: Hashable, Sendable {
        /// A Boolean value indicating whether the regions and the named beacons are announced; if not, earlier
        /// announcements are withdrawn.
        public var isEnabled = true
        /// A Boolean value indicating whether the regions are announced, beside the named beacons.
        public var announcesRegions = true
        /// The prefix of its discovery topics; nil for Home Assistant's default.
        public var discoveryPrefix: String?
        /// The topic on which it announces its start; nil for Home Assistant's default.
        public var statusTopic: String?

        /// Creates the settings of Home Assistant's defaults.
        public init() {}
    }

    /// The broker's host.
    public var host: String
    /// The port; nil for the default.
    public var port: Int?
    /// The version of the protocol; nil for the highest that the broker supports.
    public var version: Version?
    /// The client identifier at the broker; nil for one made from the machine's id and the destination's name.
    public var clientID: String?
    /// The user; nil for none.
    public var user: String?
    /// The user's password.
    public var password: Secret?
    /// TLS; nil for none.
    public var tls: TLS?
    /// The keep-alive interval; nil for the default.
    public var keepAlive: Duration?
    /// The prefix of all topics; nil for one made from the host's name and the machine's id.
    public var baseTopic: String?
    /// A Boolean value indicating whether the broker keeps states and announcements for later subscribers.
    public var retainsMessages = true
    /// The quality of service: 0 or 1.
    public var qualityOfService = 1
    /// Discovery by Home Assistant; nil where the file does not mention it.
    public var homeAssistant: HomeAssistant?
    /// The least time from one state of a beacon to the next; nil for the default.
    public var stateInterval: Duration?

    /// Creates the settings of a broker on a host.
    public init(host: String) { self.host = host }
}

extension MQTTSettings {
    static func read(_ section: ConfigurationSection) -> MQTTSettings? {
        let host = section.text("host", "write the broker's name or address")
        var settings = MQTTSettings(host: host?.value ?? "")
        settings.port = section.integer("port", 1...65535)?.value
        if let version = section.choice("version", Version.allCases.map { ($0.rawValue, $0) }) {
            settings.version = version.value
        }
        settings.clientID = section.text("client-id")?.value
        settings.user = section.text("user")?.value
        settings.password = section.secret("password")
        settings.keepAlive = section.duration("keep-alive", .seconds(5)...(.seconds(65_535)))
        settings.baseTopic = section.text("topic")?.value
        if let retains = section.boolean("retain") { settings.retainsMessages = retains }
        if let quality = section.integer("qos", 0...1) { settings.qualityOfService = quality.value }
        settings.stateInterval = section.duration("state-interval", .zero...(.seconds(3600)))
        settings.tls = TLS.read(section)
        settings.homeAssistant = HomeAssistant.read(section)
        guard section.has("host") else {
            section.reportMissing("host", "write the broker's name or address")
            return nil
        }
        // The connection knows best what brokers refuse.
        for fault in settings.options(for: "").mistakes() + settings.homeAssistantOptions.mistakes() {
            // The host is the value that people write as something else.
            let origin = fault.hasPrefix("host ") ? host?.origin : nil
            section.report(
                origin ?? section.origin, "in \(section.path.joined(separator: ".")), " + Self.keys(in: fault))
        }
        return settings
    }

    /// Returns a message of the connection with the file's key instead of its own name, with which it may begin.
    private static func keys(in message: String) -> String {
        let keys = [
            "host": "host", "clientID": "client-id", "keepAlive": "keep-alive", "baseTopic": "topic",
            "discoveryPrefix": "discovery-prefix", "statusTopic": "status-topic",
        ]
        let word = message.prefix { $0 != " " }
        guard let key = keys[String(word)] else { return message }
        return "\"\(key)\"" + message.dropFirst(word.count)
    }
}

extension MQTTSettings {
    /// What only one destination of a broker may have: a client id, or a prefix of topics.
    struct Client: Hashable {
        /// The broker, by host and port.
        var broker: String
        /// The key in the file.
        var key: String
        /// The value, which may be a default.
        var value: String

        /// Returns what two destinations with it do to each other, as the beginning of a sentence.
        func fault(of other: String) -> String {
            key == "topic"
                ? "it publishes below the topic \"\(value)\" as \"\(other)\" does, and each would remove what the other retains"
                : "it has the client id \"\(value)\" at the same broker as \"\(other)\", and each would be disconnected "
                    + "when the other connects"
        }
    }

    /// Returns what no other destination of the same broker may have.
    func clients(of destination: String) -> [Client] {
        let options = options(for: destination)
        let broker = "\(options.host.lowercased()):\(options.effectivePort)"
        return [
            Client(broker: broker, key: "client-id", value: options.clientID),
            Client(broker: broker, key: "topic", value: options.baseTopic),
        ]
    }
}

extension MQTTSettings.TLS {
    /// Reads `tls: true`, or a mapping of files.
    static func read(_ section: ConfigurationSection) -> MQTTSettings.TLS? {
        if case .scalar? = section.node("tls") {
            return section.boolean("tls") == true ? MQTTSettings.TLS() : nil
        }
        guard section.has("tls") else { return nil }
        let inside = section.section("tls")
        var tls = MQTTSettings.TLS()
        tls.authorityFile = inside.existingFile("ca-file")
        tls.certificateFile = inside.existingFile("certificate-file")
        tls.keyFile = inside.existingFile("key-file")
        inside.finish()
        return tls
    }
}

extension MQTTSettings.HomeAssistant {
    /// Reads `home-assistant: true` or `false`, or a mapping.
    static func read(_ section: ConfigurationSection) -> MQTTSettings.HomeAssistant? {
        guard section.has("home-assistant") else {
            _ = section.node("home-assistant")
            return nil
        }
        var settings = MQTTSettings.HomeAssistant()
        if case .mapping? = section.node("home-assistant") {
            let inside = section.section("home-assistant")
            settings.isEnabled = inside.boolean("enabled") ?? true
            settings.announcesRegions = inside.boolean("regions") ?? true
            settings.discoveryPrefix = inside.text("discovery-prefix")?.value
            settings.statusTopic = inside.text("status-topic")?.value
            inside.finish()
        } else {
            settings.isEnabled = section.boolean("home-assistant") ?? false
        }
        return settings
    }
}
