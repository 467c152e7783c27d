/// What is wrong with a controller, on purpose.
public struct ControllerFault: Hashable, Sendable {
    /// It answers commands and reports nothing: the way scans die.
    public var isSilent = false

    /// It neither answers nor reports.
    public var isDead = false

    /// How it refuses to begin a scan, and how many times it will.
    public var refusal = Status(rawValue: 0x0C)
    /// How often it will yet refuse to begin a scan.
    public var refusals = 0

    /// Nothing is wrong.
    public init() {}
}
