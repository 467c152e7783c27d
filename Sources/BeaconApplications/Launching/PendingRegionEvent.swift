package import BeaconModel

/// An event of a region that is delivered when the application runs again.
package struct PendingRegionEvent: Hashable, Sendable {
    /// The region's identifier.
    package var identifier: String

    /// The beacons of the region. If the application has another region with the identifier by then, the event is
    /// ignored.
    package var constraint: BeaconConstraint

    /// The new state.
    package var state: RegionState

    /// Its time, by the wall clock.
    package var time: Timestamp

    /// Creates an event.
    package init(identifier: String, constraint: BeaconConstraint, state: RegionState, time: Timestamp) {
        self.identifier = identifier
        self.constraint = constraint
        self.state = state
        self.time = time
    }
}

extension PendingRegionEvent: Codable {
    private enum Key: String, CodingKey {
        case identifier, region, state, time
    }

    /// Reads an event.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        guard let constraint = BeaconConstraint(try values.decode(String.self, forKey: .region)),
            let state = RegionState(rawValue: try values.decode(UInt8.self, forKey: .state))
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .region, in: values, debugDescription: "expected UUID[/MAJOR[/MINOR]] and a state from 0 to 2")
        }
        self.init(
            identifier: try values.decode(String.self, forKey: .identifier), constraint: constraint, state: state,
            time: Timestamp(nanoseconds: try values.decode(Int64.self, forKey: .time)))
    }

    /// Writes an event.
    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(identifier, forKey: .identifier)
        try values.encode(constraint.description, forKey: .region)
        try values.encode(state.rawValue, forKey: .state)
        try values.encode(time.nanoseconds, forKey: .time)
    }
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
