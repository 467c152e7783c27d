import BeaconDelivery
import BeaconService

/// A destination as the gateway uses it: where notifications go, and what more wants to know of each event.
struct Addressee: Sendable {
    /// Where notifications go.
    var destination: Destination

    /// What of a notification is its business.
    var filter: DestinationFilter

    /// Told of each event; nil for destinations that live by notifications alone.
    var receive: (@Sendable (SessionEvent) -> Void)?
}
