import BeaconConfiguration
public import BeaconDelivery
public import Foundation

/// The settings of Kumulos.
public struct KumulosSettings: Hashable, Sendable {
    /// The app's key.
    public var apiKey: Secret
    /// The app's secret key.
    public var secretKey: Secret
    /// This gateway's name at Kumulos; nil for one that is made once and stored.
    public var installID: String?
    /// The address of a stand-in; nil for Kumulos itself.
    public var url: URL?

    /// Creates the settings of an app at Kumulos.
    public init(apiKey: Secret, secretKey: Secret) {
        self.apiKey = apiKey
        self.secretKey = secretKey
    }
}

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
