import BeaconModel
import BeaconSupport
import Foundation
public import Logging
import NIOHTTP1

/// A message from a backend to this install.
public struct KumulosMessage: Hashable, Sendable, Codable, Identifiable {
    /// The message's id, the same for each delivery.
    public let id: String
    /// When it was sent, in seconds since 1970.
    public let time: Double
    /// The heading; nil for none.
    public let title: String?
    /// The text.
    public let text: String
    /// An address to open; nil for none.
    public let url: String?

    /// Creates a message.
    public init(id: String, time: Double, title: String? = nil, text: String, url: String? = nil) {
        self.id = id
        self.time = time
        self.title = title
        self.text = text
        self.url = url
    }
}

/// A receiver of messages from beacond to this install. It polls for messages, passes them on in order, and then
/// acknowledges them.
///
/// The server keeps a message until it is acknowledged. If the process ends before that, the message is delivered
/// again. Kumulos' own servers push messages by Apple's and Google's services and have no such list.
public struct KumulosInbox: Sendable {
    /// The time, in seconds, for which the server may wait for a message before it answers with an empty list.
    private static let wait = 30

    /// The maximum number of ids remembered of messages that were passed on but perhaps not acknowledged.
    private static let maximumRemembered = 1_000

    /// The wait if the server rejects the keys or does not offer messages. The configuration must change first.
    private static let longPause = Duration.seconds(300)

    /// The wait between two requests if the server answers at once with an empty list.
    private static let shortPause = Duration.seconds(1)

    private let poster: HTTPPoster
    private let acknowledgements: HTTPPoster
    private let headers: HTTPHeaders
    private let logger: Logger

    private struct Answer: Decodable {
        var messages: [KumulosMessage]
    }

    /// Creates an inbox for an install of an app.
    ///
    /// - Throws: ``SinkError`` if the configuration is not valid.
    public init(_ configuration: KumulosSettings, logger: Logger) throws(SinkError) {
        let url = configuration.baseURL.appendingPathComponent("v1").appendingPathComponent("app-installs")
            .appendingPathComponent(configuration.installID).appendingPathComponent("messages")
        guard let asking = URL(string: "\(url.absoluteString)?wait=\(Self.wait)") else {
            throw SinkError(.invalidURL, "the address of the messages is not a URL")
        }
        var http = configuration.http
        http.requestTimeout = max(http.requestTimeout, .seconds(Self.wait + 30))
        poster = try HTTPPoster(url: asking, settings: http)
        acknowledgements = try HTTPPoster(
            url: url.appendingPathComponent("acknowledge"), settings: configuration.http)
        headers = configuration.headers
        self.logger = logger
    }

    /// Passes messages on until its task is canceled.
    ///
    /// - Parameter handle: a closure that handles a message. When it returns, the message is acknowledged.
    public func run(_ handle: @Sendable (KumulosMessage) async -> Void) async {
        var handled: [String] = []
        var failures = 0
        let policy = RetryPolicy()
        var generator = SystemRandomNumberGenerator()
        while !Task.isCancelled {
            let began = ContinuousClock.now
            let (response, body) = await poster.get(headers: headers)
            var pause = Duration.zero
            switch response {
            case .cancelled: return
            case .response(200..<300, _, _):
                guard let messages = body.flatMap({ try? JSONDecoder().decode(Answer.self, from: $0) })?.messages else {
                    report("its answer is not a list of messages", at: &failures)
                    pause = Self.longPause
                    break
                }
                if failures > 0 { logger.notice("messages are received again") }
                failures = 0
                for message in messages where !handled.contains(message.id) {
                    await handle(message)
                    if Task.isCancelled { return }
                    handled.append(message.id)
                }
                // Do not poll a server continuously if it does not wait.
                if messages.isEmpty, .now - began < Self.shortPause { pause = Self.shortPause }
                handled.removeFirst(max(0, handled.count - Self.maximumRemembered))
                if !messages.isEmpty, await !acknowledge(messages.map(\.id)) {
                    failures += 1
                    pause = policy.wait(afterFailures: failures, asked: nil, using: &generator)
                }
            case .response(let status, let asked, let excerpt):
                report("it answered \(status)\(excerpt.isEmpty ? "" : ": \(excerpt)")", at: &failures)
                pause =
                    [401, 403, 404, 405].contains(status)
                    ? Self.longPause : policy.wait(afterFailures: failures, asked: asked, using: &generator)
            case .failure(let reason):
                report(reason, at: &failures)
                pause = policy.wait(afterFailures: failures, asked: nil, using: &generator)
            }
            if pause > .zero { try? await Task.sleep(for: pause) }
        }
    }

    /// Logs the first of several failures in a row.
    private func report(_ reason: String, at failures: inout Int) {
        failures += 1
        if failures == 1 { logger.warning("cannot get messages from the server: \(reason); trying again") }
    }

    private func acknowledge(_ ids: [String]) async -> Bool {
        guard let body = try? JSONEncoder().encode(["ids": ids]) else { return false }
        return await acknowledgements.post(body, headers: headers) == .delivered
    }
}
