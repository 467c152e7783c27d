import BeaconBroker
import BeaconConfiguration
import BeaconMonitoring
import BeaconReceivers

/// Bluetooth proxies of ESPHome among the sources.
extension ESPHomeSource {
    /// The keys of the devices and how to connect to them.
    static let grammar = Grammar<Self>(
        ESPHomeSource(),
        [
            Setting(
                "hosts", .texts("write names or addresses, as in [hall.local, \"192.168.1.20\"]"),
                default: "all that are found", "The names or addresses of the devices, with a port where it is another."
            ) { (source: inout ESPHomeSource, hosts: [String]) in source.nodes = hosts.map { Node(text: $0) } },
            Setting("key", \.key, .secret, "The key of their API, 32 bytes as base64."),
            Setting("take", \.mayTake, .boolean, "Takes adverts from another program that has them from a device."),
        ]
    ) { section, source, isWhole in
        for fault in source.mistakes() { section.report(fault) }
        return isWhole
    }
}

/// Gateways that post what they hear among the sources.
extension PostedSource {
    /// The keys of gateways that post.
    static let grammar = Grammar<Self>(
        PostedSource(name: ""),
        [Setting("token", \.token, .secret, "The token that gateways show, of 16 characters at least.")]
    ) { section, source, isWhole in
        // What is wrong with a secret is told already.
        guard !section.has("token") || source.token != nil else { return isWhole }
        for fault in source.mistakes() { section.report(fault) }
        return isWhole
    }
}

/// A broker among the sources: receivers that others own publish to it what they hear.
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

    /// The key of the topics that are asked for.
    static let topics = Grammar<Self>(
        BrokerSource(MQTTSettings(host: "")),
        [
            Setting(
                "topics", .list(.text()), "The topics that are asked for.",
                default: { _ in "those of the known projects" }
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
                "Your names of receivers, by the names that these have themselves."),
            Setting(
                "empty-after", .durationOrOff(.seconds(10)...(.seconds(86_400))), default: "off",
                "The silence after which a receiver's room counts as empty, also where the receiver may be dead."
            ) { $0.emptyAfter = $1.map { Int64($0 / .nanoseconds(1)) } ?? .max },
        ])

    /// The key of the mapping of messages of another kind.
    static let mappingGrammar = Grammar<Self>(
        ReceiverNetwork.Settings(),
        [
            Setting(
                "mapping", \.mapping, .mappingIfGiven(ReceiverMapping.grammar),
                "The places of values in messages of another kind.")
        ])
}

extension ReceiverMapping {
    private static let form = "write keys with dots between them, as device.mac"

    /// A place in a message.
    private static let path = SettingKind(.text(), form, parse: JSONPath.init)

    /// The keys of the places of values in a gateway's messages.
    static let grammar = Grammar<Self>(
        start,
        [
            receiver("receiver", path, "The place of the receiver's name in the message.") { .path($0) },
            receiver("receiver-level", .integer(1...32), "The level of the topic that is the receiver's name, from 1.")
            {
                (level: Int) in .level(level)
            },
            Setting("receiver-name", .text(), "The name of the one receiver that all messages are of.") {
                section, mapping in
                if let name = section.text("receiver-name") { mapping.receiver = .fixed(name) }
                guard receiverKeys.filter(section.has).count != 1 else { return true }
                section.report(
                    "say once which receiver heard: \"receiver\", the place of its name in the message, "
                        + "\"receiver-level\", its level in the topic from 1, or \"receiver-name\"")
                return false
            },
            Setting("each", \.each, path, "The place of the list of adverts, where a message has several."),
            Setting("address", \.address, path, "The place of the beacon's address, in the advert."),
            Setting("time", \.time, path, "The place of the time at which it was heard, in the advert."),
            Setting("state", \.state, path, "The place of a word that says whether the beacon is there."),
            Setting("rssi", \.rssi, path, required: form, "The place of the signal in dBm, in the advert."),
            Setting("data", path, "The place of the advert's bytes.") { $0.data = $1 },
            Setting("uuid", \.uuid, path, "The place of the UUID, where the gateway decodes iBeacons."),
            Setting("major", \.major, path, "The place of the major value."),
            Setting("minor", \.minor, path, "The place of the minor value."),
            Setting("power", \.power, path, "The place of the measured power."),
            Setting("encoding", \.encoding, .word(), "How bytes are written."),
            Setting("numbers", \.numbers, .word(), "How numbers in quotation marks are written."),
        ]
    ) { section, mapping, isWhole in
        let fields = ["uuid", "major", "minor"]
        let missing = fields.filter { !section.has($0) }
        if missing.count == fields.count, !section.has("data") {
            section.report(
                "say where the advert is: \"data\", the place of its bytes, or \"uuid\", \"major\" "
                    + "and \"minor\", those of an iBeacon that the gateway decoded")
        } else if missing.count < fields.count {
            for key in missing { section.reportMissing(key, form) }
        }
        let isDecoded = mapping.uuid != nil && mapping.major != nil && mapping.minor != nil
        return isWhole && mapping.receiver != start.receiver && (mapping.data != nil || isDecoded)
    }

    /// A mapping without any place. Levels begin with 1.
    private static let start = {
        var mapping = ReceiverMapping(receiver: .level(0), rssi: JSONPath(), data: JSONPath())
        mapping.data = nil
        return mapping
    }()

    /// The keys of the receiver that heard. A mapping has one of them.
    private static let receiverKeys = ["receiver", "receiver-level", "receiver-name"]

    private static func receiver<Value>(
        _ key: String, _ kind: SettingKind<Value>, _ help: String, name: @escaping @Sendable (Value) -> Name
    ) -> Setting<ReceiverMapping> {
        Setting(key, kind, help) { $0.receiver = name($1) }
    }
}
