import BeaconDelivery
package import BeaconEventStore
import Foundation

/// A writer of the gateway's steps: events, and the resulting presence.
package protocol EventWriter: Sendable {
    /// Writes a step soon, and returns at once. The step waits in memory until the disk accepts it. If too many wait,
    /// the least important are dropped.
    func enqueue(_ step: Step, atOnce: Bool)
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

    package func enqueue(_ step: Step, atOnce: Bool) {
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
