package import BeaconModel

/// An event of a region that is delivered when the application runs again.
package struct PendingRegionEvent: Hashable, Sendable, Codable {
    /// The region's identifier.
    package var identifier: String

    /// The beacons of the region. If the application has another region with the identifier by then, the event is
    /// ignored.
    package var constraint: BeaconConstraint

    /// The new state.
    package var state: RegionState

    /// Its time, by the wall clock, in nanoseconds since 1970.
    private var nanoseconds: Int64

    /// Creates an event.
    package init(identifier: String, constraint: BeaconConstraint, state: RegionState, time: Timestamp) {
        (self.identifier, self.constraint, self.state, nanoseconds) = (identifier, constraint, state, time.nanoseconds)
    }

    /// Its time, by the wall clock.
    package var time: Timestamp { Timestamp(nanoseconds: nanoseconds) }
}

extension PendingRegionEvent {
    /// Sets the state of the event's region.
    ///
    /// - Returns: the region's index and its previous state; nil if the region does not exist or already has the state.
    @discardableResult
    package func apply(to regions: inout [RegisteredRegion]) -> (place: Int, before: RegionState)? {
        guard
            let place = regions.firstIndex(where: { $0.identifier == identifier && $0.constraint == constraint }),
            regions[place].state != state
        else { return nil }
        defer { regions[place].state = state }
        return (place, regions[place].state)
    }
}
