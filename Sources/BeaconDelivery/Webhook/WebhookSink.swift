import Foundation
import NIOHTTP1

/// Posts notifications to an address, as CloudEvents in JSON.
///
/// Each is sent when the one before was answered, since that alone keeps the order; a connection is kept for all. A request
/// carries `Idempotency-Key`, the notification's id, by which a receiver knows one that comes twice, and where a secret is
/// set the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` of Standard Webhooks.
///
/// 2xx means delivered; 408, 425, 429, 5xx, a redirect and no whole answer mean again; anything else is a refusal for good.
public final class WebhookSink: Sink {
    private let poster: HTTPPoster
    private let signature: WebhookSignature
    private let headers: HTTPHeaders
    private let source: String
    private let typePrefix: String
    private let batch: Int

    /// How many are taken from the outbox at a time where each is sent by itself.
    private static let page = 64

    /// After this time what was done is written down, so that little is sent again after a crash.
    private static let longestPage = Duration.seconds(1)

    /// A sink for a webhook.
    ///
    /// - Throws: ``SinkError`` where the configuration cannot work.
    public init(_ configuration: WebhookConfiguration) throws(SinkError) {
        guard configuration.maximumBatch >= 1 else {
            throw SinkError(.invalidValue, "a batch of a webhook has one notification at least")
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

    /// As many as a request may carry, or a page where each has its own.
    public var maximumBatch: Int { batch > 1 ? batch : Self.page }

    /// Posts notifications, in order.
    public func deliver(_ batch: [OutboxEntry]) async -> [DeliveryOutcome] {
        if self.batch > 1 { return await BatchSplitter.deliver(batch[...]) { await self.post($0) } }
        var outcomes: [DeliveryOutcome] = []
        let start = ContinuousClock.now
        for index in batch.indices {
            guard let outcome = await post(batch[index...index]).outcome else { break }
            outcomes.append(outcome)
            if case .retry = outcome { break }
            if ContinuousClock.now - start > Self.longestPage { break }
        }
        return outcomes
    }

    private func post(_ entries: ArraySlice<OutboxEntry>) async -> HTTPAnswer {
        guard let first = entries.first else { return .failure("there is nothing to send") }
        let events = entries.map { CloudEvent($0.notification, source: source, typePrefix: typePrefix) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body: Data
        do {
            body = batch > 1 ? try encoder.encode(events) : try encoder.encode(events[0])
        } catch {
            return .response(status: 400, retryAfter: nil, excerpt: "it cannot be written as JSON: \(error)")
        }
        // The same for the same content: a batch that is put together anew is another one.
        let id = entries.count == 1 ? "\(first.notification.id)" : "\(first.notification.id)+\(entries.count - 1)"
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
