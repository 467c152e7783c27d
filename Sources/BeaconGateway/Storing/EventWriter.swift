import BeaconDelivery
package import BeaconEventStore
import Foundation

/// A writer of the gateway's steps: events, and the resulting presence.
package protocol EventWriter: Sendable {
    /// Writes a step. When it returns, all of it is durable.
    ///
    /// - Throws: `EventStoreError` if the step cannot be written. Then nothing was written.
    func append(_ step: Step) async throws(EventStoreError) -> Receipt

    /// Writes a step once the disk accepts it. If too many wait, the least important are dropped.
    func enqueue(_ step: Step)
}

extension EventStore: EventWriter {}

/// A writer that sends nothing, but prints each notification as a line of JSON per destination.
package struct DryRunWriter: EventWriter {
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
        for event in step.events where event.audience == nil {
            for destination in destinations.map(\.destination)
            where destination.filter.selects(kind: event.kind, region: event.region) {
                let head = ["destination": destination.name]
                if let json = try? destination.selection(of: event).json(in: head, as: "notification") {
                    print(Array(json) + [UInt8(ascii: "\n")])
                }
            }
        }
    }
}
