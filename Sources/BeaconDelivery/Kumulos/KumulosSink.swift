public import BeaconEventStore
import BeaconModel
public import Foundation
import NIOHTTP1

/// The configuration of a ``KumulosSink`` for an app at Kumulos.
public struct KumulosSettings: Hashable, Sendable {
    /// The app's API key.
    public var apiKey: Secret

    /// The app's secret key.
    public var secretKey: Secret

    /// The id of this installation, which Kumulos' SDK generates once for an app on a device: a random UUID in upper
    /// case.
    public var installID: String

    /// The address of the server.
    public var baseURL: URL

    /// The HTTP settings.
    public var http: HTTPSettings

    /// The address of Kumulos' server for events (Kumulos' SDK for Swift 10.0.0).
    public static let eventsURL = URL(string: "https://events.kumulos.com") ?? URL(fileURLWithPath: "/")

    /// Creates the configuration of an app.
    ///
    /// - Parameters:
    ///   - apiKey: the app's API key.
    ///   - secretKey: the app's secret key.
    ///   - installID: the id of this installation.
    ///   - baseURL: the address of the server.
    ///   - http: the HTTP settings.
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

extension KumulosSettings {
    /// The headers of each request.
    var headers: HTTPHeaders {
        let credentials = Data("\(apiKey.reveal()):\(secretKey.reveal())".utf8)
        return [
            "Authorization": "Basic \(credentials.base64EncodedString())",
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": http.userAgent,
        ]
    }
}

/// A sink that posts proximity changes and custom events to Kumulos in the same form as its SDK: arrays of up to 100
/// events, oldest first.
///
/// Kumulos has one event for beacons, a beacon's proximity. Enters, exits and heartbeats are not sent.
public final class KumulosSink: Sink {
    private let poster: HTTPPoster
    private let headers: HTTPHeaders
    private let installID: String

    /// Creates a sink for an app at Kumulos.
    ///
    /// - Throws: ``SinkError`` if the configuration is not valid.
    public init(_ configuration: KumulosSettings) throws(SinkError) {
        installID = configuration.installID
        guard !installID.isEmpty else {
            throw SinkError(.invalidValue, "installID is empty; write the installation's id, a UUID")
        }
        let url = configuration.baseURL.appendingPathComponent("v1").appendingPathComponent("app-installs")
            .appendingPathComponent(installID).appendingPathComponent("events")
        poster = try HTTPPoster(url: url, settings: configuration.http)
        headers = configuration.headers
    }

    /// 100, the batch size of Kumulos' SDK.
    public var maximumBatch: Int { 100 }

    /// A filter that selects proximity changes and custom events.
    public var filter: EventFilter {
        let kinds: [BeaconNotification.Kind] = [.proximity, .application]
        return EventFilter(kinds: Set(kinds.map(\.rawValue)))
    }

    /// Posts notifications in one request and returns their outcomes.
    public func deliver(_ batch: [QueuedNotification]) async -> [DeliveryOutcome] {
        // A rule may choose Kumulos for any notification.
        let unsuited = batch.firstIndex { KumulosEventBody($0.notification, installID: installID) == nil }
        if unsuited == 0 {
            return [.refused(reason: "Kumulos accepts only proximity changes and an application's named events")]
        }
        return await BatchSplitter.deliver(batch[..<(unsuited ?? batch.endIndex)]) { entries in
            let events = entries.compactMap { KumulosEventBody($0.notification, installID: self.installID) }
            do {
                return await self.poster.post(try JSONEncoder.sorted.encode(events), headers: self.headers)
            } catch {
                return .refused(reason: "it cannot be written as JSON: \(error)")
            }
        }
    }
}

/// A notification in Kumulos' format: the event that `sendiBeaconProximity(beacon:)` of its SDK for Swift 10.0.0
/// records, or a custom event, as `trackEvent(eventType:properties:)` records it.
struct KumulosEventBody: Encodable {
    private let type: String
    private let uuid: String
    private let timestamp: Int64
    private let data: JSONValue
    private let userId: String

    /// Creates the event of a notification; nil if it is neither a proximity change nor a custom event.
    init?(_ notification: BeaconNotification, installID: String) {
        if notification.kind == .application, let name = notification.name {
            type = name
            data = notification.properties.map(JSONValue.object) ?? .null
        } else if let beacon = notification.beacon, let proximity = notification.proximity {
            type = "k.engage.beaconEnteredProximity"
            data = .object([
                "type": .integer(1),
                "uuid": .string(beacon.uuid.description.uppercased()),
                "major": .string(String(beacon.major)),
                "minor": .string(String(beacon.minor)),
                "proximity": .integer(Int64(proximity.rawValue)),
            ])
        } else {
            return nil
        }
        uuid = notification.id.description
        timestamp = notification.time.milliseconds
        userId = notification.user ?? installID
    }
}
