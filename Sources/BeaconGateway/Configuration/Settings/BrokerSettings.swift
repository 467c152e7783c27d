import BeaconConfiguration
public import BeaconMQTT
import BeaconSupport
import Foundation

/// A broker for publishing notifications, with states and announcements.
public struct BrokerSettings: Hashable, Sendable {
    /// The connection and the topics.
    public var connection = MQTTSettings(host: "")
    /// Discovery by Home Assistant. If it is off, earlier announcements are removed.
    public var homeAssistant = HomeAssistantSettings(isEnabled: false)

    /// Creates the settings of a broker without a host. A destination in a file gets default names that are unique to
    /// this machine. In code, set a client id and a base topic.
    public init() {}
}

extension MQTTSettings {
    /// The keys of a connection, for publishing or subscribing.
    static let keys: [Setting<MQTTSettings>] = [
        Setting("host", \.host, .text(remedyForHost), required: remedyForHost, "The broker's name or address."),
        Setting("port", \.port, .integer(1...65_535), default: "1883, with TLS 8883", "The broker's port."),
        Setting(
            "version", \.version, .word(), default: "the highest that the broker supports",
            "The version of the protocol."),
        Setting(
            "client-id", \.clientID, .text(), default: "made from the machine's id and the name",
            "The client id, which no other client of the broker may have."),
        Setting("user", \.user, .text(), "The user, if the broker requires one."),
        Setting("password", \.password, .secret, "The user's password."),
        Setting(
            "keep-alive", \.keepAlive, .duration(.seconds(5)...(.seconds(65_535))),
            "The longest silence; after one and a half times this, the broker considers this machine gone."),
        Setting("tls", \.tls, .switch(MQTTTLSSettings.grammar), default: "false", "Encrypts the connection."),
    ]

    private static let remedyForHost = "write the broker's name or address"
}

extension MQTTTLSSettings {
    /// The keys of TLS.
    static let grammar = Grammar<Self>(
        MQTTTLSSettings(),
        [
            Setting(
                "ca-file", \.authorityFile, .existingFile, default: "the system's",
                "The certificates (PEM) of the authorities to trust."),
            Setting("certificate-file", \.certificateFile, .existingFile, "The machine's own certificate (PEM)."),
            Setting("key-file", \.keyFile, .existingFile, "The certificate's key (PEM)."),
        ])
}

extension HomeAssistantSettings {
    /// The keys of discovery.
    static let grammar = Grammar<Self>(
        HomeAssistantSettings(),
        [
            Setting("enabled", \.isEnabled, .boolean, "Announces devices; `false` removes earlier announcements."),
            Setting("regions", \.announcesRegions, .boolean, "Also announces the regions, beside the named beacons."),
            Setting(
                "places", \.announcesPlaces, .boolean,
                "Also announces the places and their receivers, with the occupancy of each place."),
            Setting(
                "language", \.language, .word(),
                "The language of the entities' names. Home Assistant's language decides about the others."),
            Setting("discovery-prefix", \.discoveryPrefix, .text(), "The prefix of its discovery topics."),
            Setting("status-topic", \.statusTopic, .text(), "The topic on which it reports that it has started."),
        ])
}

extension BrokerSettings {
    /// The keys of a broker.
    static let grammar = Grammar<Self>(BrokerSettings(), keys)

    private static var keys: [Setting<BrokerSettings>] {
        let connection = MQTTSettings.keys.map { $0.within(\BrokerSettings.connection) }
        let own: [Setting<BrokerSettings>] = [
            Setting(
                "topic", \.connection.baseTopic, .text(), default: "`beacond/` and the machine's name",
                "The prefix of all topics."),
            Setting(
                "retain", \.connection.retainsMessages, .boolean,
                "The broker keeps states and announcements for later subscribers."),
            Setting("qos", .integer(0...1), default: "1", "The quality of service.") { (broker, level: UInt8) in
                broker.connection.qualityOfService = MQTTQualityOfService(rawValue: level) ?? .atLeastOnce
            },
        ]
        let discovery = Setting(
            "home-assistant", \BrokerSettings.homeAssistant, .switch(HomeAssistantSettings.grammar), default: "false",
            "Announces the gateway, the named beacons and the regions to Home Assistant.")
        return Array(connection.dropLast()) + own + connection.suffix(1) + [discovery]
    }

    /// Reads the broker of a destination, with this machine's default names.
    static func read(_ section: ConfigurationSection, _ name: String) -> BrokerSettings? {
        guard var broker = grammar.read(section, hasOthers: true) ?? (section.has("host") ? grammar.blank : nil) else {
            return nil
        }
        let machine = MachineIdentity.current
        if !section.has("client-id") {
            broker.connection.clientID = machine.clientID(for: name)
            // Ids in Home Assistant survive a renamed destination; the default client id contains the name.
            broker.homeAssistant.nodeID = machine.nodeID
        }
        if !section.has("topic") {
            broker.connection.baseTopic = machine.baseTopic
            broker.homeAssistant.gatewayName = machine.title
        }
        broker.homeAssistant.supportURL = ProgramVersion.supportAddress
        // The connection has the checks for values that brokers reject.
        for fault in broker.connection.mistakes() + broker.homeAssistant.mistakes() {
            // The host is the most likely mistake.
            let origin = fault.hasPrefix("host ") ? section.origin(of: "host") : section.origin
            section.report(origin, section.subject + keys(in: fault))
        }
        return broker
    }

    /// Returns a message of the connection with the file's key instead of the property's name at the beginning.
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

extension BrokerSettings {
    /// A value that must be unique among destinations of a broker.
    struct Client: Hashable {
        /// The kind of value.
        enum Kind: Hashable { case clientID, topic, announcements }

        /// The broker, by host and port.
        var broker: String
        var kind: Kind
        /// The value, which may be a default.
        var value: String

        /// Returns how two destinations with the same value disturb each other, with the remedy, as the beginning of a
        /// sentence.
        func fault(of other: String) -> String {
            switch kind {
            case .clientID:
                "it has the client id \"\(value)\" at the same broker as \"\(other)\", and each would be disconnected "
                    + "when the other connects; change the \"client-id\" of one of them"
            case .topic:
                "it publishes below the topic \"\(value)\" as \"\(other)\" does, and each would remove the other's "
                    + "retained messages; change the \"topic\" of one of them"
            case .announcements:
                "it announces the same devices to Home Assistant as \"\(other)\" does, and each would remove the "
                    + "other's; set the \"client-id\" of one of them, or \"home-assistant: false\""
            }
        }
    }

    /// The values that no other destination of the same broker may share.
    var clients: [Client] {
        [client(.clientID, connection.clientID), client(.topic, connection.baseTopic)]
            + (homeAssistant.isEnabled ? [announcements] : [])
    }

    /// The broker, and the beginning of the ids of the devices that it announces, or has announced.
    fileprivate var announcements: Client {
        client(.announcements, "\(homeAssistant.discoveryPrefix)/\(homeAssistant.nodeID ?? connection.clientID)")
    }

    private func client(_ kind: Client.Kind, _ value: String) -> Client {
        Client(broker: "\(connection.host.lowercased()):\(connection.effectivePort)", kind: kind, value: value)
    }
}

extension GatewayConfiguration {
    /// Keeps destinations that announce nothing to Home Assistant from removing what another one announces.
    ///
    /// A destination removes its earlier announcements by the beginning of their ids, by default this machine's.
    mutating func separateAnnouncements() {
        let announced = destinations.compactMap { destination -> BrokerSettings.Client? in
            guard case .mqtt(let broker) = destination.kind, broker.homeAssistant.isEnabled else { return nil }
            return broker.announcements
        }
        for index in destinations.indices {
            guard case .mqtt(var broker) = destinations[index].kind, !broker.homeAssistant.isEnabled,
                announced.contains(broker.announcements)
            else { continue }
            broker.homeAssistant.nodeID = nil
            destinations[index].kind = .mqtt(broker)
        }
    }
}
