import BeaconDelivery

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
        if settings.password != nil, settings.user == nil, !section.has("user") {
            section.reportMissing("user", "a password needs the user whose it is")
        }
        guard section.has("host") else {
            section.reportMissing("host", "write the broker's name or address")
            return nil
        }
        return settings
    }
}
