/// The counts of a controller since it was switched on.
public struct ControllerCounters: Hashable, Sendable {
    /// The number of commands from the host.
    public internal(set) var commands = 0

    /// The number of times that scanning was enabled.
    public internal(set) var scansStarted = 0

    /// The number of adverts and scan responses reported to the host.
    public internal(set) var reports = 0

    /// The number of adverts that the duplicate filter dropped.
    public internal(set) var duplicates = 0

    /// The number of adverts lost because the host did not read fast enough.
    public internal(set) var overruns = 0

    /// The number of adverts sent.
    public internal(set) var transmissions = 0

    /// Creates counts of zero.
    public init() {}
}
