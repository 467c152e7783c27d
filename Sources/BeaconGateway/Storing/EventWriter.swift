import BeaconDelivery
import BeaconEventStore
import Foundation

/// A writer of the gateway's events, and of the presence that they lead to, to durable storage.
protocol EventWriter: Sendable {
    /// Writes events, in order, and changes of the presence. When it returns, all of it is durable.
    ///
    /// - Throws: an error where it cannot; then nothing was written.
    func write(_ events: [GatewayEvent], changing presence: [StateChange]) async throws

    /// Has events and changes written once the disk takes them. Where too many wait, it drops the least important.
    ///
    /// - Throws: an error where one of them can never be written; then nothing is kept.
    func keep(_ events: [GatewayEvent], changing presence: [StateChange]) throws
}

/// A writer into the event store, where destinations and the history find events.
struct StoreWriter: EventWriter {
    let store: EventStore
    let delivery: DeliveryService<ContinuousClock>

    func write(_ events: [GatewayEvent], changing presence: [StateChange]) async throws {
        if let step = try step(of: events, changing: presence) { try await store.append(step) }
    }

    func keep(_ events: [GatewayEvent], changing presence: [StateChange]) throws {
        guard let step = try step(of: events, changing: presence) else { return }
        try step.check()
        store.enqueue(step)
    }

    /// Returns a step; nil where nothing of it is for the store.
    private func step(of events: [GatewayEvent], changing presence: [StateChange]) throws(EventStoreError) -> Step? {
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
        return addressed || !step.events.isEmpty || !step.changes.isEmpty ? step : nil
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
        let lines = try events.compactMap(\.notification).flatMap { notification in
            try destinations.filter { $0.destination.wants(notification) }.map {
                try encoder.encode(
                    Line(destination: $0.destination.name, notification: $0.filter.apply(to: notification)))
            }
        }
        for line in lines { print(Array(line) + [UInt8(ascii: "\n")]) }
    }

    func keep(_ events: [GatewayEvent], changing presence: [StateChange]) throws {
        try write(events, changing: presence)
    }
}
