import Foundation
import NIOHTTP1

/// Posts changes of proximity to Kumulos, as its SDK does: arrays of up to 100 events, oldest first.
///
/// Kumulos has one event for beacons, which tells how near one is. Enters, exits and heartbeats are not for it.
public final class KumulosSink: Sink {
    private let poster: HTTPPoster
    private let headers: HTTPHeaders
    private let installID: String

    /// A sink for an app at Kumulos.
    ///
    /// - Throws: ``SinkError`` where the configuration cannot work.
    public init(_ configuration: KumulosConfiguration) throws(SinkError) {
        installID = configuration.installID
        guard !installID.isEmpty else { throw SinkError(.invalidValue, "Kumulos wants the name of the installation") }
        let url = configuration.baseURL.appendingPathComponent("v1").appendingPathComponent("app-installs")
            .appendingPathComponent(installID).appendingPathComponent("events")
        poster = try HTTPPoster(url: url, settings: configuration.http)
        let credentials = Data("\(configuration.apiKey.reveal()):\(configuration.secretKey.reveal())".utf8)
        headers = [
            "Authorization": "Basic \(credentials.base64EncodedString())",
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": configuration.http.userAgent,
        ]
    }

    /// 100, as Kumulos' SDK has it.
    public var maximumBatch: Int { 100 }

    /// What tells how near a beacon is.
    public func wants(_ notification: BeaconNotification) -> Bool {
        notification.kind == .proximity && KumulosEventBody(notification, installID: installID) != nil
    }

    /// Posts notifications in one request.
    public func deliver(_ batch: [OutboxEntry]) async -> [DeliveryOutcome] {
        await BatchSplitter.deliver(batch[...]) { entries in
            let events = entries.compactMap { KumulosEventBody($0.notification, installID: self.installID) }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            do {
                return await self.poster.post(try encoder.encode(events), headers: self.headers)
            } catch {
                return .response(status: 400, retryAfter: nil, excerpt: "it cannot be written as JSON: \(error)")
            }
        }
    }
}
