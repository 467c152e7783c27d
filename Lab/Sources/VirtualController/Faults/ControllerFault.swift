/// The simulated faults of a controller.
public struct ControllerFault: Hashable, Sendable {
    /// True if it answers commands but reports nothing, like a dead scan.
    public var isSilent = false

    /// True if it neither answers nor reports.
    public var isDead = false

    /// The status with which it refuses to begin a scan.
    public var refusal = Status(rawValue: 0x0C)
    /// The number of further refusals to begin a scan.
    public var refusals = 0

    /// Creates faultless settings.
    public init() {}
}
