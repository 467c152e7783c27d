/// What a controller has done since it was switched on.
public struct ControllerCounters: Hashable, Sendable {
    /// Commands that came from the host.
    public internal(set) var commands = 0

    /// Times that scanning was switched on.
    public internal(set) var scansStarted = 0

    /// Adverts and scan responses told to the host.
    public internal(set) var reports = 0

    /// Adverts that the duplicate filter kept from the host.
    public internal(set) var duplicates = 0

    /// Adverts lost since the host did not take them in time.
    public internal(set) var overruns = 0

    /// Adverts sent.
    public internal(set) var transmissions = 0

    /// None of anything.
    public init() {}
}
