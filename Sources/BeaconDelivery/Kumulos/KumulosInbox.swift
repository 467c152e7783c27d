import BeaconModel
import BeaconSupport
import Foundation
public import Logging
import NIOHTTP1

/// A message of a backend to this install.
public struct KumulosMessage: Hashable, Sendable, Codable, Identifiable {
    /// The message's name, the same each time that it comes.
    public let id: String
    /// When it was sent, in seconds since 1970.
    public let time: Double
    /// The heading; nil for none.
    public let title: String?
    /// What it says.
    public let text: String
    /// An address to open; nil for none.
    public let url: String?

    /// Creates a message from its parts.
    public init(id: String, time: Double, title: String? = nil, text: String, url: String? = nil) {
        self.id = id
        self.time = time
        self.title = title
        self.text = text
        self.url = url
    }
}

/// The messages of a beacond to this install: asked for again and again, handed on in order, and then acknowledged.
///
/// The server keeps a message until it is acknowledged, so that one comes again where the process ends between.
/// Kumulos' own servers push messages by Apple's and Google's services and have no such list.
public struct KumulosInbox: Sendable {
    /// The time for which the server may wait for a message before it answers that there is none.
    private static let wait = 30

    /// The names that are remembered of messages that were handed on, though the server does not know so far.
    private static let mostRemembered = 1_000

    /// The wait where the server says that the keys are wrong, or has no messages: somebody has to change something.
    private static let longPause = Duration.seconds(300)

    /// The time between two questions to a server that answers at once that there is nothing.
    private static let shortPause = Duration.seconds(1)

    private let poster: HTTPPoster
    private let acknowledgements: HTTPPoster
    private let headers: HTTPHeaders
    private let logger: Logger

    private struct Answer: Decodable {
        var messages: [KumulosMessage]
    }

    /// Makes an inbox for an install of an app.
    ///
    /// - Throws: ``SinkError`` where the configuration cannot work.
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

    /// Hands messages on until its task is cancelled.
    ///
    /// - Parameter handle: takes a message. When it returns, the message is acknowledged.
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
                    report("its answer is no list of messages", at: &failures)
                    pause = Self.longPause
                    break
                }
                if failures > 0 { logger.notice("messages come again") }
                failures = 0
                for message in messages where !handled.contains(message.id) {
                    await handle(message)
                    if Task.isCancelled { return }
                    handled.append(message.id)
                }
                // A server that does not wait is not asked all the time.
                if messages.isEmpty, .now - began < Self.shortPause { pause = Self.shortPause }
                handled.removeFirst(max(0, handled.count - Self.mostRemembered))
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

    /// Logs the first of several failures.
    private func report(_ reason: String, at failures: inout Int) {
        failures += 1
        if failures == 1 { logger.warning("no messages can be taken from the server: \(reason); it is asked again") }
    }

    private func acknowledge(_ ids: [String]) async -> Bool {
        guard let body = try? JSONEncoder().encode(["ids": ids]) else { return false }
        return if case .response(200..<300, _, _) = await acknowledgements.post(body, headers: headers) { true } else {
            false
        }
    }
}
