/// Whether a condition holds. Code says `CLMonitor.Event.State`; the underscores are how Apple's SDK spells the type
/// behind that name.
public enum __CLMonitoringState: UInt, Sendable, BitwiseCopyable {
    /// Not yet determined.
    case unknown = 0

    /// It holds: for beacons, at least one that matches is heard.
    case satisfied = 1

    /// It does not hold.
    case unsatisfied = 2

    /// The condition is not being watched. The event's diagnostics tell why.
    case unmonitored = 3
}
