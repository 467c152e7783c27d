import BeaconSupport

/// Diagnostics of a gateway, for its device in Home Assistant.
public struct GatewayDiagnostics: Hashable, Sendable {
    /// Whether at least one receiver hears.
    public var hears: Bool

    /// The number of adverts per second during the last seconds.
    public var advertsPerSecond: Double

    /// The number of events that wait for delivery to any destination.
    public var waiting: Int

    /// The problems that need the user, in sentences, the worst first.
    public var problems: [String] = []

    /// The receivers, by the names that places use. A receiver that is missing does not hear.
    public var receivers: [String: Receiver] = [:]

    /// Diagnostics of a receiver.
    public struct Receiver: Hashable, Sendable {
        /// Whether it hears; nil before its first state.
        public var hears: Bool?

        /// The number of adverts per minute.
        public var advertsPerMinute: Double

        /// Creates diagnostics of a receiver.
        ///
        /// - Parameters:
        ///   - hears: whether it hears; nil before its first state.
        ///   - advertsPerMinute: the number of adverts per minute.
        public init(hears: Bool?, advertsPerMinute: Double) {
            (self.hears, self.advertsPerMinute) = (hears, advertsPerMinute)
        }
    }

    /// Creates diagnostics.
    ///
    /// - Parameters:
    ///   - hears: whether at least one receiver hears.
    ///   - advertsPerSecond: the number of adverts per second during the last seconds.
    ///   - waiting: the number of events that wait for delivery.
    public init(hears: Bool, advertsPerSecond: Double, waiting: Int) {
        self.hears = hears
        self.advertsPerSecond = advertsPerSecond
        self.waiting = waiting
    }
}

/// The published diagnostics. Not every change is published, because Home Assistant records each message.
struct GatewayDiagnosticsFilter: Hashable, Sendable {
    /// The shortest time between two messages that change only numbers or words. A change of `hears`, the first problem
    /// and the end of the last one are published at once.
    static let minimumInterval = Duration.seconds(60)

    /// The most problems that are named, and the longest text of one. Home Assistant stores 16 KiB of attributes.
    private static let (maximumProblems, longestProblem) = (10, 500)

    /// The retained state. Everything except the version is unknown at first.
    private(set) var published = State()
    private var lastChange: ContinuousClock.Instant?

    /// The retained state of the gateway.
    struct State: Hashable, Sendable, Encodable {
        // Templates read every key.
        @Nullable var hears: Bool?
        @Nullable var advertsPerSecond: Int?
        @Nullable var waiting: Int?
        @Nullable var problems: [String]?
        var version = ProgramVersion.current
    }

    /// Processes diagnostics.
    ///
    /// - Returns: Whether ``published`` changed.
    mutating func receive(_ new: GatewayDiagnostics, at now: ContinuousClock.Instant) -> Bool {
        let rate = Self.rate(new.advertsPerSecond, after: published.advertsPerSecond)
        var next = State(hears: new.hears, advertsPerSecond: rate, waiting: new.waiting)
        next.problems = new.problems.prefix(Self.maximumProblems).map { String($0.prefix(Self.longestProblem)) }
        guard next != published else { return false }
        let isUrgent = next.hears != published.hears || next.problems?.isEmpty != published.problems?.isEmpty
        if !isUrgent, let lastChange, now - lastChange < Self.minimumInterval { return false }
        published = next
        lastChange = now
        return true
    }

    /// Returns a rate of adverts as a whole number: the published one if it has changed by less than a fifth. Such a
    /// change is noise, because adverts arrive at random.
    fileprivate static func rate(_ new: Double, after before: Int?) -> Int {
        let rate = new.isFinite ? Int(min(max(new, 0), 1e6).rounded()) : 0
        if let before, abs(rate - before) * 5 < max(before, 5), (rate == 0) == (before == 0) { return before }
        return rate
    }
}

/// The published diagnostics of a receiver.
struct ReceiverDiagnosticsFilter: Hashable, Sendable {
    /// The retained state of a receiver, unknown at first.
    private(set) var published = State()
    private var lastChange: ContinuousClock.Instant?

    /// The retained state of a receiver.
    struct State: Hashable, Sendable, Encodable {
        // Templates read every key.
        @Nullable var adverts: Int?
        @Nullable var hears: Bool?
    }

    /// Processes diagnostics. A change of adverts alone is published at most once a minute.
    ///
    /// - Returns: Whether ``published`` changed.
    mutating func receive(_ new: GatewayDiagnostics.Receiver?, at now: ContinuousClock.Instant) -> Bool {
        let next = State(
            adverts: GatewayDiagnosticsFilter.rate(new?.advertsPerMinute ?? 0, after: published.adverts),
            hears: new.map(\.hears) ?? false)
        guard next != published else { return false }
        if next.hears == published.hears, let lastChange, now - lastChange < GatewayDiagnosticsFilter.minimumInterval {
            return false
        }
        (published, lastChange) = (next, now)
        return true
    }
}
