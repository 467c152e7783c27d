import BeaconDelivery
import BeaconEventStore
import Foundation

/// A writer of the gateway's events, and of the presence that they lead to, to durable storage.
protocol EventWriter: Sendable {
    /// Writes events, in order, and changes of the presence. When it returns, all of it is durable.
    ///
    /// - Throws: an error where it cannot; then nothing was written.
    func write(_ events: [GatewayEvent], changing presence: [StateChange]) async throws
}

/// A writer into the event store, where destinations and the history find events.
struct StoreWriter: EventWriter {
    let store: EventStore
    let delivery: DeliveryService<ContinuousClock>

    func write(_ events: [GatewayEvent], changing presence: [StateChange]) async throws {
        var step = Step(changes: presence)
        var addressed = false
        for event in events {
            let recipients = event.notification.map(delivery.recipients) ?? []
            guard let stored = try event.stored(isWanted: !recipients.isEmpty) else { continue }
            if event.reach == .destinations {
                step.address(stored, to: recipients)
                addressed = true
            } else {
                step.events.append(stored)
            }
        }
        if addressed || !step.events.isEmpty || !step.changes.isEmpty { try await store.append(step) }
    }
}

/// A writer that prints what would be sent, a line of JSON for each destination that would get it, and sends nothing.
struct DryRunWriter: EventWriter {
    private struct Line: Encodable {
        var destination: String
        var notification: BeaconNotification
    }

    let destinations: [ConfiguredDestination]
    let print: @Sendable ([UInt8]) -> Void

    init(destinations: [ConfiguredDestination], print: @escaping @Sendable ([UInt8]) -> Void) {
        self.destinations = destinations
        self.print = print
    }

    func write(_ events: [GatewayEvent], changing presence: [StateChange]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for notification in events.compactMap(\.notification) {
            for destination in destinations where destination.destination.wants(notification) {
                let line = Line(
                    destination: destination.destination.name,
                    notification: destination.filter.apply(to: notification))
                print(Array(try encoder.encode(line)) + [UInt8(ascii: "\n")])
            }
        }
    }
}
