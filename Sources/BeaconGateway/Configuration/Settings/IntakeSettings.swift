import BeaconConfiguration
public import BeaconDelivery
import Yams

/// The senders whose events are taken: apps with Kumulos' SDK, and webhooks of other beaconds.
public struct IntakeSettings: Hashable, Sendable {
    /// An app, by the keys that its SDK is set up with.
    public struct App: Hashable, Sendable {
        /// The name in events.
        public var name: String
        /// The key, which is its user name (HTTP Basic).
        public var apiKey: Secret
        /// The secret that goes with it.
        public var secretKey: Secret
    }

    /// A sender of CloudEvents, by the secret that it signs with.
    public struct Webhook: Hashable, Sendable {
        /// The name in events and in the address, `v1/webhooks/NAME`.
        public var name: String
        /// The secret that the sender signs with (Standard Webhooks).
        public var signingSecret: Secret
    }

    /// The apps.
    public var apps: [App] = []
    /// The webhooks.
    public var webhooks: [Webhook] = []

    /// Creates settings with which nothing is taken.
    public init() {}
}

extension IntakeSettings {
    /// Reads the key `intake`.
    static func read(_ root: ConfigurationSection) -> IntakeSettings {
        let section = root.section("intake")
        defer { section.finish() }
        var settings = IntakeSettings()
        var names: Set<String> = []
        settings.apps = section.items("apps", "write a list of apps, each beginning with \"- name:\"").compactMap {
            let app = ConfigurationSection($0.node, at: $0.path, in: root.reading)
            defer { app.finish() }
            let name = app.name("app", known: &names)
            let (key, secret) = (app.secret("api-key"), app.secret("secret-key"))
            for word in ["api-key", "secret-key"] where !app.has(word) {
                app.reportMissing(word, "write { env: NAME } or { file: PATH }, where the app's \(word) is")
            }
            guard let name, let key, let secret else { return nil }
            return App(name: name, apiKey: key, secretKey: secret)
        }
        let what = "write a list of webhooks, each beginning with \"- name:\""
        settings.webhooks = section.items("webhooks", what).compactMap {
            let webhook = ConfigurationSection($0.node, at: $0.path, in: root.reading)
            defer { webhook.finish() }
            let name = webhook.name("webhook", known: &names)
            let secret = webhook.secret("secret")
            if !webhook.has("secret") {
                webhook.reportMissing("secret", "write { env: NAME } or { file: PATH }, where it is")
            }
            if let secret {
                do {
                    _ = try WebhookSignature([secret])
                } catch {
                    webhook.report(webhook.origin, "\"secret\": \(error)")
                }
            }
            guard let name, let secret else { return nil }
            return Webhook(name: name, signingSecret: secret)
        }
        if section.has("apps") || section.has("webhooks"), !root.has("web") {
            section.report(section.origin, "\"intake\" needs a console to come in by; write \"web: true\"")
        }
        return settings
    }
}
