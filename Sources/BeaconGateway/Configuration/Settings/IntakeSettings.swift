import BeaconConfiguration
public import BeaconDelivery

/// The senders whose events are accepted: apps with Kumulos' SDK, and webhooks of other beaconds.
public struct IntakeSettings: Hashable, Sendable {
    /// An app, with the keys that its SDK uses.
    public struct App: Hashable, Sendable {
        /// The name in events.
        public var name: String
        /// The key, which serves as its user name (HTTP Basic).
        public var apiKey: Secret
        /// The secret that belongs to the key.
        public var secretKey: Secret
    }

    /// A sender of CloudEvents, with the secret for its signatures.
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

    /// Creates settings that accept no events.
    public init() {}
}

extension IntakeSettings.App {
    /// The keys of an app.
    static let grammar = Grammar<Self>(
        Self(name: "", apiKey: Secret(""), secretKey: Secret("")),
        [
            Setting(
                "name", \.name, .name("app", among: "intake"), required: .remedyForName(of: "app"),
                "The name in events."),
            Setting("api-key", \.apiKey, .secret, required: remedy("api-key"), "The API key of the app's SDK."),
            Setting(
                "secret-key", \.secretKey, .secret, required: remedy("secret-key"), "The secret key of the app's SDK."),
        ])

    private static func remedy(_ word: String) -> String {
        "write { env: NAME } or { file: PATH } for the app's \(word)"
    }
}

extension IntakeSettings.Webhook {
    /// The keys of a webhook.
    static let grammar = Grammar<Self>(
        Self(name: "", signingSecret: Secret("")),
        [
            Setting(
                "name", \.name, .name("webhook", among: "intake"), required: .remedyForName(of: "webhook"),
                "The name in events, and in the address `v1/webhooks/NAME`."),
            Setting(
                "secret", \.signingSecret, .secret, required: "write { env: NAME } or { file: PATH } for the secret",
                "The secret that the sender signs with."),
        ]
    ) { section, webhook, isWhole in
        guard !webhook.signingSecret.isEmpty else { return isWhole }
        do {
            _ = try WebhookSignature([webhook.signingSecret])
        } catch {
            section.report(section.origin, "\"secret\": \(error)")
        }
        section.warnOfSigning(webhook.signingSecret)
        return isWhole
    }
}

extension IntakeSettings {
    /// The keys of the intake.
    static let grammar = Grammar<Self>(
        IntakeSettings(),
        [
            Setting(
                "apps", \.apps, .items("write a list of apps, each beginning with \"- name:\"", App.grammar),
                "The apps with Kumulos' SDK."),
            Setting(
                "webhooks", \.webhooks,
                .items("write a list of webhooks, each beginning with \"- name:\"", Webhook.grammar),
                "The senders of CloudEvents, such as other beaconds."),
        ])
}
