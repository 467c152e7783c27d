import BeaconDelivery
import BeaconMQTT

extension MQTTSettings {
    static func read(_ section: ConfigurationSection) -> MQTTSettings? {
        var settings = MQTTSettings(host: section.text("host", "write the broker's name or address")?.value ?? "")
        settings.port = section.integer("port", 1...65535)?.value
        if let version = section.choice("version", Version.allCases.map { ($0.rawValue, $0) }) {
            settings.version = version.value
        }
        settings.clientID = section.text("client-id")?.value
        settings.user = section.text("user")?.value
        settings.password = section.secret("password")
        settings.keepAlive = section.duration("keep-alive", .seconds(5)...(.seconds(65_535)))
        settings.baseTopic = section.text("topic")?.value
        if let quality = section.integer("qos", 0...1) { settings.qualityOfService = quality.value }
        settings.stateInterval = section.duration("state-interval", .zero...(.seconds(3600)))
        settings.tls = TLS.read(section)
        settings.homeAssistant = HomeAssistant.read(section)
        guard section.has("host") else {
            section.reportMissing("host", "write the broker's name or address")
            return nil
        }
        // What the connection itself would refuse, which knows brokers better.
        for mistake in settings.options.mistakes() + settings.homeAssistantOptions.mistakes() {
            section.report(section.origin, "in \(section.path.joined(separator: ".")), " + Self.keys(in: mistake))
        }
        return settings
    }

    /// A message of the connection's with the keys of the file in place of its own names, with one of which it may begin.
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
