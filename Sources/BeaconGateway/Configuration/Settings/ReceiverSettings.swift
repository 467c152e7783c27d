import BeaconBroker
import BeaconConfiguration
import BeaconMonitoring
import BeaconReceivers

/// Bluetooth proxies of ESPHome among the sources.
extension ESPHomeSource {
    /// The keys of the devices and of the connection to them.
    static let grammar = Grammar<Self>(
        ESPHomeSource(),
        [
            Setting(
                "hosts", .texts("write names or addresses, as in [hall.local, \"192.168.1.20\"]"),
                default: "all discovered devices",
                "The names or addresses of the devices, with a port if it is not the default."
            ) { (source: inout ESPHomeSource, hosts: [String]) in source.nodes = hosts.map { Node(text: $0) } },
            Setting("key", \.key, .secret, "The key of their API, 32 bytes as base64."),
            Setting("take", \.mayTake, .boolean, "Takes a device over from another program that receives its adverts."),
        ]
    ) { section, source, isWhole in
        for fault in source.mistakes() { section.report(fault) }
        return isWhole
    }
}

/// Gateways that post their adverts among the sources.
extension PostedSource {
    /// The keys of gateways that post.
    static let grammar = Grammar<Self>(
        PostedSource(name: ""),
        [Setting("token", \.token, .secret, "The token that gateways send, with at least 16 characters.")]
    ) { section, source, isWhole in
        // A fault of a secret is already reported.
        guard !section.has("token") || source.token != nil else { return isWhole }
        for fault in source.mistakes() { section.report(fault) }
        return isWhole
    }
}

/// A broker among the sources, to which receivers of others publish their adverts.
extension BrokerSource {
    /// The keys of the connection.
    static let grammar = Grammar<Self>(
        BrokerSource(MQTTSettings(host: "")), MQTTSettings.keys.map { $0.within(\.options) }
    ) {
        section, source, isWhole in
        guard isWhole || section.has("host") else { return false }
        let hasOwnClientID = !section.has("client-id")
        if hasOwnClientID { source.options.clientID = newClientID() }
        source = BrokerSource(source.options, hasOwnClientID: hasOwnClientID)
        for fault in source.mistakes() {
            section.report(
                fault.hasPrefix("host ") ? section.origin(of: "host") : section.origin, section.subject + fault)
        }
        return true
    }

    /// The key of the topics to subscribe to.
    static let topics = Grammar<Self>(
        BrokerSource(MQTTSettings(host: "")),
        [
            Setting(
                "topics", .list(.text()), "The topics to subscribe to.",
                default: { _ in "the topics of known projects" }
            ) { section, source in
                guard let topics = section.texts("topics", "write topics, as in [home/+/BTtoMQTT/#]") else {
                    return false
                }
                source.filters = topics.map(\.value)
                for topic in topics {
                    var one = BrokerSource(MQTTSettings())
                    one.filters = [topic.value]
                    for fault in one.mistakes() { section.report(topic.origin, fault) }
                }
                return true
            }
        ])
}

extension ReceiverNetwork.Settings {
    /// The keys of the receivers of a source.
    static let grammar = Grammar<Self>(
        ReceiverNetwork.Settings(),
        [
            Setting(
                "receivers", \.names, .pairs("write names, as in \"c8:25:2d:8e:9c:2c: hall\""),
                "Your names for receivers, by their own names."),
            Setting(
                "empty-after", .durationOrOff(.seconds(10)...(.seconds(86_400))), default: "off",
                "The silence after which a receiver's room counts as empty, even if the receiver may be dead."
            ) { $0.emptyAfter = $1.map { Int64($0 / .nanoseconds(1)) } ?? .max },
        ])

    /// The key of the mapping for custom messages.
    static let mappingGrammar = Grammar<Self>(
        ReceiverNetwork.Settings(),
        [
            Setting(
                "mapping", \.mapping, .mappingIfGiven(ReceiverMapping.grammar),
                "The paths of values in custom messages.")
        ])
}

extension ReceiverMapping {
    private static let form = "write keys with dots between them, as device.mac"

    /// A path in a message.
    private static let path = SettingKind(.text(), form, parse: JSONPath.init)

    /// The keys of the paths of values in a gateway's messages.
    static let grammar = Grammar<Self>(
        start,
        [
            receiver("receiver", path, "The path of the receiver's name in the message.") { .path($0) },
            receiver("receiver-level", .integer(1...32), "The level of the topic with the receiver's name, from 1.") {
                (level: Int) in .level(level)
            },
            Setting("receiver-name", .text(), "The name of the receiver, if all messages are from one.") {
                section, mapping in
                if let name = section.text("receiver-name") { mapping.receiver = .fixed(name) }
                guard receiverKeys.filter(section.has).count != 1 else { return true }
                section.report(
                    "name the receiver in one way: \"receiver\", the path of its name in the message, "
                        + "\"receiver-level\", its level in the topic from 1, or \"receiver-name\"")
                return false
            },
            Setting("each", \.each, path, "The path of the list of adverts, if a message has several."),
            Setting("address", \.address, path, "The path of the beacon's address, in the advert."),
            Setting("time", \.time, path, "The path of the time when it was heard, in the advert."),
            Setting("state", \.state, path, "The path of a word that states whether the beacon is present."),
            Setting("rssi", \.rssi, path, required: form, "The path of the signal in dBm, in the advert."),
            Setting("data", path, "The path of the advert's bytes.") { $0.data = $1 },
            Setting(
                "uuid", \.uuid, path, "The path of the UUID, if the gateway decodes iBeacons, or of UUID-MAJOR-MINOR."),
            Setting("major", \.major, path, "The path of the major value."),
            Setting("minor", \.minor, path, "The path of the minor value."),
            Setting("power", \.power, path, "The path of the measured power."),
            Setting("encoding", \.encoding, .word(), "How bytes are written."),
            Setting("numbers", \.numbers, .word(), "How numbers in quotation marks are written."),
        ]
    ) { section, mapping, isWhole in
        let fields = ["uuid", "major", "minor"]
        let missing = fields.filter { !section.has($0) }
        if missing.count == fields.count, !section.has("data") {
            section.report(
                "specify the advert: \"data\", the path of its bytes, or \"uuid\", \"major\" "
                    + "and \"minor\", the paths of an iBeacon that the gateway decoded")
        } else if missing.count < fields.count, missing != ["major", "minor"] {
            for key in missing { section.reportMissing(key, form) }
        }
        // An identity may be one text, without a major and a minor value.
        let isDecoded = mapping.uuid != nil && (mapping.major == nil) == (mapping.minor == nil)
        return isWhole && mapping.receiver != start.receiver && (mapping.data != nil || isDecoded)
    }

    /// A mapping without paths. Levels begin with 1.
    private static let start = {
        var mapping = ReceiverMapping(receiver: .level(0), rssi: JSONPath(), data: JSONPath())
        mapping.data = nil
        return mapping
    }()

    /// The keys of the receiver. A mapping has one of them.
    private static let receiverKeys = ["receiver", "receiver-level", "receiver-name"]

    private static func receiver<Value>(
        _ key: String, _ kind: SettingKind<Value>, _ help: String, name: @escaping @Sendable (Value) -> Name
    ) -> Setting<ReceiverMapping> {
        Setting(key, kind, help) { $0.receiver = name($1) }
    }
}
