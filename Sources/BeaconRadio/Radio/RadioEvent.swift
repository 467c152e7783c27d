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
    /// The clock on the wall is so many nanoseconds ahead of the radio's times from now on, negative where it is behind.
    ///
    /// A radio's times count from 1970 by what the clock on the wall said when the radio began, and go on evenly. Where
    /// somebody sets that clock, as a machine without a battery does once it has a network, the times stay even, and
    /// whoever shows them to people adds this.
    case wallClock(ahead: Int64)
    /// Something that whoever runs the radio should know.
    case notice(RadioNotice)
}
