import Yams

extension MQTTSettings.HomeAssistant {
    /// `home-assistant: true` or `false`, or a mapping.
    static func read(_ section: ConfigurationSection) -> MQTTSettings.HomeAssistant? {
        guard section.has("home-assistant") else {
            _ = section.node("home-assistant")
            return nil
        }
        var settings = MQTTSettings.HomeAssistant()
        if case .mapping? = section.node("home-assistant") {
            let inside = section.section("home-assistant")
            settings.isEnabled = inside.boolean("enabled") ?? true
            settings.discoveryPrefix = inside.text("discovery-prefix")?.value
            settings.statusTopic = inside.text("status-topic")?.value
            inside.finish()
        } else {
            settings.isEnabled = section.boolean("home-assistant") ?? false
        }
        return settings
    }
}
