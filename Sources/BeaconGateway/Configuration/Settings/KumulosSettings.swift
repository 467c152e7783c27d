public import BeaconDelivery
public import Foundation

/// How to reach Kumulos.
public struct KumulosSettings: Hashable, Sendable {
    /// The app's key.
    public var apiKey: Secret
    /// The app's secret key.
    public var secretKey: Secret
    /// What this gateway is called at Kumulos; nil for a name that is made once and kept.
    public var installID: String?
    /// Where Kumulos' events go; nil for Kumulos itself.
    public var url: URL?

    /// Kumulos by these keys.
    public init(apiKey: Secret, secretKey: Secret) {
        self.apiKey = apiKey
        self.secretKey = secretKey
    }
}
