import BeaconDelivery
import BeaconEventStore
import BeaconGateway
import BeaconModel
import BeaconMonitoring
import BeaconReceivers
import BeaconSupport
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The routes of events from apps, other beacond instances and gateways, and of messages to apps.
struct IntakeRoutes: Sendable {
    let gateway: Gateway
    let history: EventHistory
    let state: GatewayState
    let current: CurrentConfiguration
    /// True when beacond is ending.
    let isEnding: Locked<Bool>
    /// The number of apps that are waiting for a message.
    private let polls = Locked(0)

    /// The largest request of a gateway or another beacond in bytes, enough for a hundred large events.
    private static let largestBatch = 1 << 20

    /// The longest wait for a message in seconds.
    private static let longestWait = 60

    /// The largest number of apps that may wait for a message at once, out of all connections. Further requests are
    /// answered at once.
    private static let maximumPolls = 300

    /// The largest number of messages in one answer.
    private static let maximumMessages = 100

    private struct AppMessage: Encodable, Sendable {
        var id: String
        var time: Double
        @Nullable var title: String?
        var text: String
        @Nullable var url: String?
    }

    private struct Acknowledgement: Decodable, Sendable {
        var ids: [String]
    }

    func add(to router: RouterGroup<WebContext>) {
        router.respond(.post, "app-installs/{id}/events") { request, context in
            let (app, install) = try await sender(of: request, context)
            let batch = try await Self.batch(of: request)
            let now = Timestamp(seconds: Date().timeIntervalSince1970) ?? .zero
            let configuration = await gateway.configuration
            let events =
                batch.events.map { $0.event(of: install, app, at: now, in: configuration) }
                + batch.refused.map { $0.event(of: install, app, at: now) }
            let stored = try await keep(events, from: (app, install))
            // Every answer from 200 to 299 lets the app go on.
            return batch.refused.isEmpty ? stored : try Response.json(["refused": batch.refused.map(\.fault)])
        }
        router.on(.get, "app-installs/{id}/messages") { request, context in
            let (_, install) = try await sender(of: request, context)
            let wait = request.parameter("wait").flatMap { Int($0) } ?? 0
            guard (0...Self.longestWait).contains(wait) else {
                throw Problem(
                    .badRequest, key: "wait", "must be a number of seconds from 0 to \(Self.longestWait)")
            }
            let messages = try await messages(of: install, within: .seconds(wait))
            return [
                "messages": messages.map {
                    AppMessage(
                        id: $0.id, time: $0.time.seconds, title: $0.content.title, text: $0.content.text,
                        url: $0.content.url)
                }
            ]
        }
        router.on(.get, "users/{id}/messages") { request, context in
            let app = try await senders.app(of: request)
            // The value is the phone's clock with Kumulos' SDK, and the time of a message with Optimove's. Neither
            // tells what the phone has.
            let isUpdate = request.parameter("after")?.isEmpty == false
            return try await state.people.messages(
                to: try context.name("id"), of: app, isUpdate: isUpdate, limit: Self.maximumMessages
            ).map(InAppMessage.init)
        }
        router.on(.post, "app-installs/{id}/messages/acknowledge") { request, context in
            let (_, install) = try await sender(of: request, context)
            let ids = try await request.value(of: Acknowledgement.self).ids
            guard ids.count <= 1_000 else { throw Problem(.unprocessableContent, "\"ids\" has more than 1000 entries") }
            try await state.people.take(ids, by: install, at: Timestamp(seconds: Date().timeIntervalSince1970) ?? .zero)
            return Nothing()
        }
        router.respond(.post, "webhooks/{name}") { request, context in
            let name = try context.name("name")
            guard let webhook = current.value.intake.webhooks.first(where: { $0.name == name }) else {
                throw Problem(.notFound, "unknown webhook; add it to \"webhooks\" under \"intake\"")
            }
            // Refuse unsigned requests before reading their body.
            try senders.checkHeaders(of: request)
            let body = try await Self.body(of: request)
            try senders.check(request, of: webhook, body: body)
            let media = request.headers[.contentType]?.split(separator: ";").first.map(String.init) ?? ""
            let configuration = await gateway.configuration
            let now = Timestamp(seconds: Date().timeIntervalSince1970) ?? .zero
            let events = try CloudEventForm.read(body, media: media.lowercased())
            return try await keep(events.compactMap { $0.event(of: name, at: now, in: configuration) })
        }
        router.respond(.post, "sources/{name}/adverts") { request, context in
            let name = try context.name("name")
            let found = await gateway.configuration.sources.first { $0.name == name }
            guard let source = found?.specification.network as? PostedSource else {
                throw Problem(
                    .notFound,
                    "no source of this name accepts adverts; add one under \"sources\", with \"http\" and a token")
            }
            try await senders.check(request, of: source)
            let body = try await Self.body(of: request)
            guard !body.isEmpty else { throw Problem(.badRequest, "the request is empty; post the gateway's adverts") }
            guard source.queue.add(Array(body)) else {
                throw Problem(
                    .serviceUnavailable, "adverts arrive faster than they can be processed; send fewer at once",
                    headers: [.retryAfter: "1"])
            }
            // Ruuvi Gateway treats every answer except 200 as a failure, posts less often, and restarts itself after an
            // hour (ruuvi.gateway_esp.c, http.c).
            return try Response.json([String: String]())
        }
    }

    private var senders: SenderCheck { SenderCheck(settings: current.value.intake, access: state.access) }

    /// Returns the app and the install that sent a request.
    private func sender(of request: Request, _ context: WebContext) async throws -> (app: String, install: String) {
        let app = try await senders.app(of: request)
        let install = try context.name("id")
        guard install.utf8.count <= AppEventForm.longestInstall else {
            throw Problem(
                .badRequest, "the identifier of an install has at most \(AppEventForm.longestInstall) characters")
        }
        if let known = try await state.people.installs([install])[install], known.app != app {
            throw Self.foreignInstall
        }
        return (app, install)
    }

    private static var foreignInstall: Problem { Problem(.forbidden, "this install belongs to another app") }

    /// Stores the events of a request, and answers it once they are on disk.
    private func keep(
        _ events: [BeaconNotification], from sender: (app: String, install: String)? = nil
    ) async throws -> Response {
        do {
            try await history.receive(events, from: sender)
        } catch EventHistory.Refusal.full {
            throw Problem(
                .serviceUnavailable, "the queue of events is full; send them again later",
                headers: [.retryAfter: "60"])
        } catch EventHistory.Refusal.foreignInstall {
            throw Self.foreignInstall
        }
        return Response(status: .noContent)
    }

    private func messages(of install: String, within wait: Duration) async throws -> [InstallMessage] {
        let isPatient = polls.withLock { polls in
            polls += 1
            return polls <= Self.maximumPolls
        }
        defer { polls.withLock { $0 -= 1 } }
        let deadline = ContinuousClock.now + (isPatient ? wait : .zero)
        while true {
            let seen = state.people.newMessages.count
            let messages = try await state.people.messages(of: install, isWaiting: true, limit: Self.maximumMessages)
            let left = ContinuousClock.now.duration(to: deadline)
            guard messages.isEmpty, left > .zero, !isEnding.withLock({ $0 }) else { return messages }
            await state.people.newMessages.wait(after: seen, atMost: left)
        }
    }

    /// The largest request of an app in bytes, and the most that is read of a larger one, so that the app goes on.
    private static let largestAppBatch = 8 << 20
    private static let mostRead = 256 << 20

    /// Reads the events of an app.
    private static func batch(of request: Request) async throws -> AppEventBatch {
        var (body, size) = (Data(), 0)
        for try await part in request.body {
            size += part.readableBytes
            if size <= largestAppBatch { body.append(contentsOf: part.readableBytesView) } else { body = Data() }
            guard size <= mostRead else { throw HTTPError(.contentTooLarge) }
        }
        guard size <= largestAppBatch else {
            return AppEventBatch(refusing: RefusedAppEvent(request: size, largest: largestAppBatch))
        }
        return try AppEventBatch(body)
    }

    private static func body(of request: Request) async throws -> Data {
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > largestBatch {
            throw HTTPError(.contentTooLarge)
        }
        var request = request
        return Data(try await request.collectBody(upTo: largestBatch).readableBytesView)
    }
}

extension WebContext {
    /// Returns a name in the path.
    ///
    /// - Throws: ``Problem`` if it is not a valid name.
    func name(_ key: String) throws -> String {
        guard let text = parameters.get(key)?.removingPercentEncoding, !text.isEmpty, text.count <= 200,
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { throw Problem(.badRequest, "the address must contain a name of 1 to 200 characters") }
        return text
    }
}
