/// What is to be started when a region is entered or left.
public struct LaunchRule: Hashable, Sendable {
    /// What is started.
    public enum Target: Hashable, Sendable {
        /// A program and its arguments, without a shell. It gets the event as JSON on its standard input.
        case program([String])
        /// A systemd unit, by `systemctl start`.
        case unit(String)
    }

    /// What happened to a region.
    public enum Event: String, Hashable, Sendable, CaseIterable {
        /// It was entered.
        case enter
        /// It was left.
        case exit
    }

    /// What messages call it.
    public var name: String

    /// The regions whose events count; nil for all.
    public var regions: Set<String>?

    /// The events that count.
    public var events: Set<Event>

    /// What is started.
    public var target: Target

    /// The folder that a program is started in; nil for the daemon's own.
    public var folder: String?

    /// How long it may run.
    public var timeLimit: Duration

    /// The least time from one start to the next. An event that comes earlier waits.
    public var interval: Duration

    /// A rule of this name.
    public init(
        name: String, regions: Set<String>? = nil, events: Set<Event> = [.enter], target: Target,
        folder: String? = nil, timeLimit: Duration = .seconds(30), interval: Duration = .seconds(1)
    ) {
        self.name = name
        self.regions = regions
        self.events = events
        self.target = target
        self.folder = folder
        self.timeLimit = timeLimit
        self.interval = interval
    }
}
