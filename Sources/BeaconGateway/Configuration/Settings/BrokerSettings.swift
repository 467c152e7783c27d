import BeaconBroker
import BeaconMonitoring
import BeaconReceivers

/// A broker among the sources: receivers that others own publish to it what they hear.
extension BrokerSource {
    /// The keys beside "mqtt" that say what is known of the receivers.
    static let networkKeys = ["topics", "mapping"] + ReceiverNetwork.Settings.keys

    /// Reads the connection.
    static func read(_ section: ConfigurationSection) -> BrokerSource? {
        let host = section.text("host", "write the broker's name or address")
        var options = MQTTOptions(
            host: host?.value ?? "", clientID: section.text("client-id")?.value ?? newClientID())
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
        let source = BrokerSource(options)
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
        let (each, address, time) = (path("each"), path("address"), path("time"))
        let (rssi, data) = (path("rssi"), path("data"))
        let encoding = section.choice("encoding", Encoding.allCases.map { ($0.rawValue, $0) })
        section.finish()
        for (key, isMissing) in [("rssi", rssi == nil), ("data", data == nil)] where isMissing && !section.has(key) {
            section.reportMissing(key, form)
        }
        guard let receiver = receivers.first, let rssi, let data else { return nil }
        return ReceiverMapping(
            receiver: receiver, each: each, address: address, rssi: rssi, data: data,
            encoding: encoding?.value ?? .hexadecimal, time: time)
    }
}
