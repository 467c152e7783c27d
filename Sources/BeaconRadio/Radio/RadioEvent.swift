public import BeaconModel

/// What a radio tells.
public enum RadioEvent: Sendable {
    /// It is this time by the radio's clock. A radio tells the time at least once a second, whatever it hears: nobody else
    /// does, so that a radio which falls silent cannot be taken for an empty room.
    case time(Timestamp)
    /// These beacons were heard, in this order.
    case sightings([Sighting])
    /// What the radio can do has changed.
    case state(RadioState)
    /// Advertising began, or failed to for this reason.
    case advertising(Result<Void, RadioError>)
}
