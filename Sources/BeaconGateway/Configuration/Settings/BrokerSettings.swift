import BeaconBroker
import BeaconConfiguration
import BeaconMonitoring
import BeaconReceivers

/// A broker among the sources: receivers that others own publish to it what they hear.
extension BrokerSource {
    /// The keys beside "mqtt" that say what is known of the receivers.
    static let networkKeys = ["topics", "mapping"] + ReceiverNetwork.Settings.keys

    /// Reads the connection.
    static func read(_ section: ConfigurationSection) -> BrokerSource? {
        let host = section.text("host", "write the broker's name or address")
        let clientID = section.text("client-id")?.value
        var options = MQTTOptions(host: host?.value ?? "", clientID: clientID ?? newClientID())
        options.port = section.integer("port", 1...65535).map { UInt16($0.value) }
        if let version = section.choice("version", MQTTVersion.allCases.map { ($0.rawValue, $0) }) {
            options.version = version.value
        }
        options.user = section.text("user")?.value
        options.password = section.secret("password")
        if let time = section.duration("keep-alive", .seconds(5)...(.seconds(65_535))) { options.keepAlive = time }
        options.tls = MQTTSettings.TLS.read(section).map {
            MQTTTLSOptions(
                authorityFile: $0.authorityFile, certificateFile: $0.certificateFile, keyFile: $0.keyFile)
        }
        section.finish()
        guard section.has("host") else {
            section.reportMissing("host", "write the broker's name or address")
            return nil
        }
        let source = BrokerSource(options, hasOwnClientID: clientID == nil)
        for fault in source.mistakes() {
            let origin = fault.hasPrefix("host ") ? host?.origin : nil
            section.report(origin ?? section.origin, "\(section.subject)\(fault)")
        }
        return source
    }

    /// Reads what is known of the receivers.
    mutating func readNetwork(_ section: ConfigurationSection) {
        if let topics = section.texts("topics", "write topics, as in [home/+/BTtoMQTT/#]") {
            filters = topics.map(\.value)
            let others = BrokerSource(MQTTOptions())
            for topic in topics {
                var one = others
                one.filters = [topic.value]
                for fault in one.mistakes() { section.report(topic.origin, fault) }
            }
        }
        network.read(section)
        network.readMapping(section)
    }
}

extension ReceiverMapping {
    /// Reads where what matters is in a gateway's messages.
    static func read(_ section: ConfigurationSection) -> ReceiverMapping? {
        let form = "write keys with dots between them, as device.mac"
        func path(_ key: String) -> JSONPath? { section.value(key, form, JSONPath.init)?.value }

        var receivers: [Name] = []
        if let path = path("receiver") { receivers.append(.path(path)) }
        if let level = section.integer("receiver-level", 1...32) { receivers.append(.level(level.value)) }
        if let name = section.text("receiver-name") { receivers.append(.fixed(name.value)) }
        if receivers.count != 1 {
            section.report(
                section.origin,
                "\(section.subject)say once which receiver heard: \"receiver\", the place of its name in the message, "
                    + "\"receiver-level\", its level in the topic from 1, or \"receiver-name\"")
        }
        let (each, address, time, state) = (path("each"), path("address"), path("time"), path("state"))
        let (rssi, data) = (path("rssi"), path("data"))
        let (uuid, major, minor, power) = (path("uuid"), path("major"), path("minor"), path("power"))
        let encoding = section.choice("encoding", Encoding.allCases.map { ($0.rawValue, $0) })
        let numbers = section.choice("numbers", Numbers.allCases.map { ($0.rawValue, $0) })
        section.finish()
        if !section.has("rssi") { section.reportMissing("rssi", form) }
        let fields = ["uuid", "major", "minor"]
        let missing = fields.filter { !section.has($0) }
        if missing.count == fields.count, !section.has("data") {
            section.report(
                section.origin,
                "\(section.subject)say where the advert is: \"data\", the place of its bytes, or \"uuid\", \"major\" "
                    + "and \"minor\", those of an iBeacon that the gateway decoded")
        } else if missing.count < fields.count {
            for key in missing { section.reportMissing(key, form) }
        }
        guard let receiver = receivers.first, let rssi else { return nil }
        var mapping: ReceiverMapping
        if let data {
            mapping = ReceiverMapping(receiver: receiver, rssi: rssi, data: data)
        } else if let uuid, let major, let minor {
            mapping = ReceiverMapping(receiver: receiver, rssi: rssi, uuid: uuid, major: major, minor: minor)
        } else {
            return nil
        }
        (mapping.each, mapping.address, mapping.time, mapping.state) = (each, address, time, state)
        (mapping.uuid, mapping.major, mapping.minor, mapping.power) = (uuid, major, minor, power)
        if let encoding { mapping.encoding = encoding.value }
        if let numbers { mapping.numbers = numbers.value }
        return mapping
    }
}
