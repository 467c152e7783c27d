public import Foundation

/// An app at Kumulos.
public struct KumulosConfiguration: Sendable {
    /// The key of the app.
    public var apiKey: Secret

    /// The secret that goes with it.
    public var secretKey: Secret

    /// The name of this installation, which Kumulos' SDK makes once for an app on a device: a random UUID in upper case.
    public var installID: String

    /// The server.
    public var baseURL: URL

    /// How it speaks HTTP.
    public var http: HTTPSettings

    /// Where Kumulos takes events (Kumulos' SDK for Swift 10.0.0).
    public static let eventsURL = URL(string: "https://events.kumulos.com") ?? URL(fileURLWithPath: "/")

    /// An app, by its keys.
    public init(
        apiKey: Secret, secretKey: Secret, installID: String, baseURL: URL = Self.eventsURL,
        http: HTTPSettings = HTTPSettings()
    ) {
        self.apiKey = apiKey
        self.secretKey = secretKey
        self.installID = installID
        self.baseURL = baseURL
        self.http = http
    }
}
