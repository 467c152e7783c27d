import BeaconDelivery
import BeaconEventStore
import BeaconGateway
import BeaconModel
import BeaconSupport
import Dispatch
import Foundation
import Hummingbird

/// The routes of waiting and refused notifications.
struct DeliveryRoutes: Sendable {
    let gateway: Gateway
    let delivery: DeliveryService<ContinuousClock>?
    let current: CurrentConfiguration
    let state: GatewayState

    private struct Queue: Encodable, Sendable {
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

    private struct Outbox: Encodable, Sendable {
        var path: String
        var destinations: [Queue]
    }

    private struct Entry: Encodable, Sendable {
        var id: Int64
        var time: Double
        var kind: String
        var summary: String
        var attempts: Int
        @Nullable var reason: String?
    }

    private struct RetryRequest: Decodable, Sendable {
        var destination: String
    }

    private struct DropRequest: Decodable, Sendable {
        var destination: String
        var state: String?
    }

    /// The largest number of entries in one answer.
    private static let maximumEntries = 200

    func add(to router: RouterGroup<WebContext>) {
        router.on(.get, "outbox") { _, _ in
            let queues = try await delivery?.status() ?? []
            // Deliveries use the wall clock. All times of the interface use the gateway's clock.
            let lead = await gateway.newestTime.seconds - Date().timeIntervalSince1970
            let destinations = await gateway.configuration.destinations.map { destination in
                let queue =
                    queues.first { $0.name == destination.name } ?? ConsumerStatus(name: destination.name)
                return Queue(
                    name: destination.name, type: destination.kind.word, waiting: queue.waiting,
                    dead: queue.deadLetters,
                    delivered: queue.handled, dropped: queue.dropped,
                    failingSince: queue.failingSince.map { $0.seconds + lead },
                    lastError: queue.lastError, nextAttempt: queue.nextAttempt.map { $0.seconds + lead })
            }
            return Outbox(path: current.value.outbox.path, destinations: destinations)
        }
        router.on(.get, "outbox/entries") { request, _ in
            guard let wanted = request.parameter("destination") else {
                throw Problem(.badRequest, "name a \"destination\"", key: "destination", "is missing")
            }
            let name = try await destination(wanted)
            let state = request.parameter("state") ?? "dead"
            guard ["dead", "waiting"].contains(state) else {
                throw Problem(.badRequest, key: "state", "must be dead or waiting")
            }
            let entries = try await inspect { inspector in
                state == "dead"
                    ? try inspector.deadLetters(of: name, limit: Self.maximumEntries)
                    : try inspector.queue(of: name, limit: Self.maximumEntries)
            }
            return [
                "entries": (entries ?? []).map { entry in
                    Entry(
                        id: entry.sequence, time: entry.notification.time.seconds,
                        kind: entry.notification.kind.rawValue, summary: entry.notification.summarized(),
                        attempts: entry.attempts,
                        reason: entry.refusal)
                }
            ]
        }
        router.on(.post, "outbox/retry") { request, _ in
            let name = try await destination(try await request.value(of: RetryRequest.self).destination)
            return ["retried": try await inspect { try $0.retry(for: name) } ?? 0]
        }
        router.on(.post, "outbox/drop") { request, _ in
            let selection = try await request.value(of: DropRequest.self)
            let name = try await destination(selection.destination)
            guard ["dead", "all", nil].contains(selection.state) else {
                throw Problem(.unprocessableContent, key: "state", "must be dead or all")
            }
            let count = try await inspect { try $0.drop(for: name, deadLettersOnly: selection.state != "all") } ?? 0
            return ["dropped": count]
        }
    }

    /// Returns the name of a known destination.
    private func destination(_ name: String) async throws -> String {
        let destinations = await gateway.configuration.destinations
        guard destinations.contains(where: { $0.name == name }) else {
            let names = destinations.map(\.name).joined(separator: ", ")
            throw Problem(
                .notFound, "unknown destination\(names.isEmpty ? "" : "; the destinations are \(names)")",
                key: "destination", "is unknown")
        }
        return name
    }

    /// Reads or changes the event store like `beacond outbox`, on a thread that may wait for the disk.
    ///
    /// - Returns: The result of `body`, or nil if there is no store yet.
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
                    // No notification was ever sent to it.
                    continuation.resume(returning: nil)
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }
}
