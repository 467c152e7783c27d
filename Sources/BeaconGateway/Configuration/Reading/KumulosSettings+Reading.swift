import BeaconDelivery

extension KumulosSettings {
    static func read(_ section: ConfigurationSection) -> KumulosSettings? {
        let apiKey = section.secret("api-key")
        let secretKey = section.secret("secret-key")
        let installID = section.text("install-id")
        let url = section.url("url")
        for key in ["api-key", "secret-key"] where !section.has(key) {
            section.reportMissing(
                key, "Kumulos shows it in the app's settings; give it as { env: NAME } or { file: PATH }")
        }
        guard let apiKey, let secretKey else { return nil }
        var settings = KumulosSettings(apiKey: apiKey, secretKey: secretKey)
        settings.installID = installID?.value
        settings.url = url
        return settings
    }
}
