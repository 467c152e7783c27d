import BeaconEventStore
import BeaconModel
import Foundation
import NIOHTTP1

/// A sink that posts notifications to an address, as CloudEvents in JSON.
///
/// To keep the order, each request waits for the answer to the previous one. All requests use one connection. The
/// header `Idempotency-Key` of a request contains the notification's id, so that a receiver can recognize duplicates. A
/// batch has the same id only if it has the same notifications.
/// With a secret, requests also have the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` of Standard
/// Webhooks.
///
/// A 2xx status with a complete body, or with 64 kB of it, means delivered. 400, 413 and 422 refuse the notification
/// permanently. Any other status, or an incomplete response, means retry.
public final class WebhookSink: Sink {
    private let poster: HTTPPoster
    private let signature: WebhookSignature
    private let headers: HTTPHeaders
    private let source: String
    private let typePrefix: String
    private let batch: Int

    /// The maximum number of notifications for one call of ``deliver(_:)`` if each is sent separately.
    private static let page = 64

    /// The time after which outcomes are returned and stored, so that little is sent again after a crash.
    private static let longestPage = Duration.seconds(1)

    /// Creates a sink for a webhook.
    ///
    /// - Throws: ``SinkError`` if the configuration is not valid.
    public init(_ configuration: WebhookSettings) throws(SinkError) {
        guard configuration.maximumBatch >= 1 else {
            throw SinkError(.invalidValue, "maximumBatch is \(configuration.maximumBatch); write 1 or more")
        }
        poster = try HTTPPoster(url: configuration.url, settings: configuration.http)
        signature = try WebhookSignature(configuration.signingSecrets)
        source = configuration.source
        typePrefix = configuration.typePrefix
        batch = configuration.maximumBatch
        let isBatched = configuration.maximumBatch > 1
        var headers = HTTPHeaders([
            ("User-Agent", configuration.http.userAgent),
            (
                "Content-Type",
                isBatched
                    ? "application/cloudevents-batch+json; charset=utf-8"
                    : "application/cloudevents+json; charset=utf-8"
            ),
        ])
        for (name, value) in configuration.headers {
            guard HTTPHeaderCheck.isName(name), HTTPHeaderCheck.isValue(value.reveal()) else {
                throw SinkError(
                    .invalidHeader,
                    "the header \(name) cannot be sent: names are letters, digits and hyphens, and a value is one line")
            }
            headers.replaceOrAdd(name: name, value: value.reveal())
        }
        self.headers = headers
    }

    /// The maximum number of notifications in a request, or 64 if each is sent separately.
    public var maximumBatch: Int { batch > 1 ? batch : Self.page }

    /// Posts notifications, in order, and returns their outcomes.
    public func deliver(_ batch: [QueuedNotification]) async -> [DeliveryOutcome] {
        if self.batch > 1 { return await BatchSplitter.deliver(batch[...]) { await self.post($0) } }
        var outcomes: [DeliveryOutcome] = []
        let start = ContinuousClock.now
        for index in batch.indices {
            guard let outcome = await post(batch[index...index]) else { break }
            outcomes.append(outcome)
            if case .retry = outcome { break }
            if ContinuousClock.now - start > Self.longestPage { break }
        }
        return outcomes
    }

    private func post(_ entries: ArraySlice<QueuedNotification>) async -> DeliveryOutcome? {
        guard let first = entries.first else { return .retry(reason: "there is nothing to send") }
        var body = Data()
        do {
            for entry in entries {
                let head = CloudEvent(entry.event, source: source, typePrefix: typePrefix)
                body += (body.isEmpty ? "" : ",").utf8
                body += try entry.event.json(in: head, as: "data")
            }
            if batch > 1 { body = Data("[".utf8) + body + Data("]".utf8) }
        } catch {
            return .refused(reason: "it cannot be written as JSON: \(error)")
        }
        // A repeated batch with one notification more or less has another id. Otherwise, a receiver would discard it.
        let id =
            entries.count == 1
            ? "\(first.event.id)" : "\(EventID(hashing: entries.map { "\($0.event.id)" }.joined(separator: "\n")))"
        var headers = headers
        headers.replaceOrAdd(name: "Idempotency-Key", value: id)
        if !signature.isEmpty {
            let timestamp = Int64(Date().timeIntervalSince1970)
            headers.replaceOrAdd(name: "webhook-id", value: id)
            headers.replaceOrAdd(name: "webhook-timestamp", value: "\(timestamp)")
            headers.replaceOrAdd(
                name: "webhook-signature", value: signature.value(id: id, timestamp: timestamp, body: body))
        }
        return await poster.post(body, headers: headers)
    }
}

/// The attributes of a notification as a CloudEvent (CloudEvents 1.0.2, JSON format).
private struct CloudEvent: Encodable {
    private let specversion = "1.0"
    private let id: EventID
    private let source: String
    private let type: String
    private let subject: String?
    private let time: String
    private let datacontenttype = "application/json"

    init(_ event: Event, source: String, typePrefix: String) {
        id = event.id
        self.source = source
        type = typePrefix + event.kind
        subject = event.region ?? event.beacon?.description
        time = Self.text(of: event.time)
    }

    /// Returns a time in RFC 3339 form, in UTC with milliseconds.
    private static func text(of time: Timestamp) -> String {
        // Foundation truncates to milliseconds, and a Double may be slightly less than the intended millisecond.
        let seconds = (Double(time.milliseconds) + 0.5) / 1000
        return Date(timeIntervalSince1970: seconds).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
