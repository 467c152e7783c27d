import BeaconDelivery
package import BeaconEventStore
import Foundation

/// A writer of the gateway's steps: events, and the presence that they lead to.
package protocol EventWriter: Sendable {
    /// Writes a step. When it returns, all of it is durable.
    ///
    /// - Throws: `EventStoreError`, where it cannot; then nothing was written.
    func append(_ step: Step) async throws(EventStoreError) -> Receipt

    /// Writes a step once the disk takes it. Where too many wait, the least important are dropped.
    func enqueue(_ step: Step)
}

extension EventStore: EventWriter {}

/// A writer that prints what would be sent, a line of JSON for each destination that would get it, and sends nothing.
package struct DryRunWriter: EventWriter {
    private struct Line: Encodable {
        var destination: String
        var notification: BeaconNotification
    }

    let destinations: [ConfiguredDestination]
    let print: @Sendable ([UInt8]) -> Void

    package init(destinations: [ConfiguredDestination], print: @escaping @Sendable ([UInt8]) -> Void) {
        self.destinations = destinations
        self.print = print
    }

    package func append(_ step: Step) -> Receipt {
        enqueue(step)
        return Receipt()
    }

    package func enqueue(_ step: Step) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for notification in step.events.compactMap({ BeaconNotification($0) }) {
            for destination in destinations where destination.destination.wants(notification) {
                let line = Line(
                    destination: destination.destination.name,
                    notification: destination.destination.selection(of: notification))
                // It was read from JSON, so it can be written as JSON.
                if let json = try? encoder.encode(line) { print(Array(json) + [UInt8(ascii: "\n")]) }
            }
        }
    }
}
