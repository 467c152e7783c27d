import BeaconDelivery
import BeaconEventStore
import BeaconGateway
import BeaconModel
import Dispatch
import Foundation
import Hummingbird

/// Routes of notifications that wait, and of those that were refused.
struct DeliveryRoutes: Sendable {
    let gateway: Gateway
    let delivery: DeliveryService<ContinuousClock>?
    let current: CurrentConfiguration
    let state: GatewayState

    private struct Queue: Encodable {
        var name: String
        var type: String
        var waiting: Int
        var dead: Int
        var delivered: Int
        var dropped: Int
        @Nullable var failingSince: Double?
        @Nullable var lastError: String?
        @Nullable var nextAttempt: Double?
    }

    private struct Overview: Encodable {
        var path: String
        var destinations: [Queue]
    }

    private struct Entry: Encodable {
        var id: Int64
        var time: Double
        var kind: String
        var summary: String
        var attempts: Int
        @Nullable var reason: String?
    }

    private struct Selection: Decodable {
        var destination: String
        var state: String?
    }

    /// The most entries of one answer.
    private static let mostEntries = 200

    func add(to router: RouterGroup<WebContext>) {
        router.get("outbox") { _, _ in
            let queues = try await delivery?.status() ?? []
            // By the clock of what is heard, as all times of the interface: deliveries go by that on the wall.
            let lead = await gateway.newestTime.seconds - Date().timeIntervalSince1970
            let destinations = current.value.destinations.map { destination in
                let queue =
                    queues.first { $0.name == destination.name } ?? ConsumerStatus(name: destination.name)
                return Queue(
                    name: destination.name, type: destination.kind.word, waiting: queue.waiting,
                    dead: queue.deadLetters,
                    delivered: queue.handled, dropped: queue.dropped,
                    failingSince: queue.failingSince.map { $0.seconds + lead },
                    lastError: queue.lastError, nextAttempt: queue.nextAttempt.map { $0.seconds + lead })
            }
            return try Response.json(Overview(path: current.value.outbox.path, destinations: destinations))
        }
        router.get("outbox/entries") { request, _ in
            guard let wanted = request.parameter("destination") else {
                throw Problem(
                    .badRequest, "say of which \"destination\"",
                    errors: [.init(key: "destination", detail: "is missing")])
            }
            let name = try destination(wanted)
            let state = request.parameter("state") ?? "dead"
            guard ["dead", "waiting"].contains(state) else {
                throw Problem(
                    .badRequest, "\"state\" is dead or waiting",
                    errors: [.init(key: "state", detail: "is dead or waiting")])
            }
            let entries = try await inspect { inspector in
                state == "dead"
                    ? try inspector.deadLetters(of: name, limit: Self.mostEntries)
                    : try inspector.queue(of: name, limit: Self.mostEntries)
            }
            return try Response.json([
                "entries": (entries ?? []).map { entry in
                    Entry(
                        id: entry.sequence, time: entry.notification.time.seconds,
                        kind: entry.notification.kind.rawValue,
                        summary: HistoryEvent.summary(of: entry.notification), attempts: entry.attempts,
                        reason: entry.refusal)
                }
            ])
        }
        router.post("outbox/retry") { request, _ in
            var request = request
            let name = try destination(try await request.value(Selection.self).destination)
            return try Response.json(["retried": try await inspect { try $0.retry(for: name) } ?? 0])
        }
        router.post("outbox/drop") { request, _ in
            var request = request
            let selection = try await request.value(Selection.self)
            let name = try destination(selection.destination)
            guard ["dead", "all", nil].contains(selection.state) else {
                throw Problem(
                    .unprocessableContent, "\"state\" is dead or all",
                    errors: [.init(key: "state", detail: "is dead or all")])
            }
            let count = try await inspect { try $0.drop(for: name, deadLettersOnly: selection.state != "all") } ?? 0
            return try Response.json(["dropped": count])
        }
    }

    /// Returns the name of a destination that there is.
    private func destination(_ name: String) throws -> String {
        guard current.value.destinations.contains(where: { $0.name == name }) else {
            let names = current.value.destinations.map(\.name).joined(separator: ", ")
            throw Problem(
                .notFound, "there is no destination of this name\(names.isEmpty ? "" : "; there are \(names)")",
                errors: [.init(key: "destination", detail: "is unknown")])
        }
        return name
    }

    /// Reads or changes the event store as `beacond outbox` does, on a thread that may wait for the disk.
    ///
    /// - Returns: what `body` returns; nil where there is no store yet.
    private func inspect<Value: Sendable>(
        _ body: @escaping @Sendable (EventStoreInspector) throws -> Value
    ) async throws -> Value? {
        let file = URL(fileURLWithPath: current.value.outbox.path)
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                do {
                    continuation.resume(returning: try body(try EventStoreInspector(file: file)))
                } catch let error as EventStoreError where error.code == .unknownConsumer {
                    // Nothing was ever sent to it.
                    continuation.resume(returning: nil)
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }
}
