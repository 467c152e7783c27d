public import BeaconService

/// A source of adverts, as the configuration names it.
public struct SourceSettings: Hashable, Sendable {
    /// What messages call it.
    public var name: String

    /// What it is.
    public var specification: SourceSpecification

    /// What notifications call whoever hears; nil for the names that the source itself has for its receivers.
    public var receiver: String?

    /// How fast a capture or a simulation plays; radios are always as fast as time.
    public var pace: Pace

    /// A source of this name.
    public init(name: String, specification: SourceSpecification, receiver: String? = nil, pace: Pace? = nil) {
        self.name = name
        self.specification = specification
        self.receiver = receiver
        self.pace = pace ?? (specification.isLive ? .times(1) : .fastest)
    }
}
