import BeaconDelivery
import BeaconEventStore
import Foundation

/// A writer of the gateway's notifications, and of the presence that they lead to, to durable storage.
protocol NotificationWriter: Sendable {
    /// Writes notifications, in order, and changes of the presence. When it returns, all of it is durable.
    ///
    /// - Throws: an error where it cannot; then nothing was written.
    func write(_ notifications: [BeaconNotification], changing presence: [StateChange]) async throws
}

/// A writer for the guided start, which leaves nothing.
struct DiscardingWriter: NotificationWriter {
    func write(_ notifications: [BeaconNotification], changing presence: [StateChange]) {}
}

/// A writer into the event store, for the delivery of notifications.
struct DeliveryWriter: NotificationWriter {
    let delivery: DeliveryService<ContinuousClock>

    func write(_ notifications: [BeaconNotification], changing presence: [StateChange]) async throws {
        try await delivery.append(notifications, changing: presence)
    }
}

/// A writer that prints what would be sent, a line of JSON for each destination that would get it, and sends nothing.
struct DryRunWriter: NotificationWriter {
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

    func write(_ notifications: [BeaconNotification], changing presence: [StateChange]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for notification in notifications {
            for destination in destinations where destination.destination.wants(notification) {
                let line = Line(
                    destination: destination.destination.name,
                    notification: destination.filter.apply(to: notification))
                print(Array(try encoder.encode(line)) + [UInt8(ascii: "\n")])
            }
        }
    }
}
