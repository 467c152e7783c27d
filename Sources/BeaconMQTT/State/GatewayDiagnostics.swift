import BeaconSupport

/// Diagnostics of a gateway, for its device in Home Assistant.
public struct GatewayDiagnostics: Hashable, Sendable {
    /// True while a receiver hears.
    public var hears: Bool

    /// The adverts of the last seconds, per second.
    public var advertsPerSecond: Double

    /// The number of events that wait to be delivered to any destination.
    public var waiting: Int

    /// The diagnostics of a moment.
    ///
    /// - Parameters:
    ///   - hears: true while a receiver hears.
    ///   - advertsPerSecond: the adverts of the last seconds, per second.
    ///   - waiting: the number of events that wait to be delivered.
    public init(hears: Bool, advertsPerSecond: Double, waiting: Int) {
        self.hears = hears
        self.advertsPerSecond = advertsPerSecond
        self.waiting = waiting
    }
}

/// The diagnostics that are published: fewer than there are, since Home Assistant records each of them.
struct GatewayDiagnosticsFilter: Hashable, Sendable {
    /// The least time between two messages about numbers alone. That the gateway hears, or does not, is published when
    /// it changes.
    static let minimumInterval = Duration.seconds(60)

    /// The retained state. Everything but the version is unknown at first.
    private(set) var published = State()
    private var lastChange: ContinuousClock.Instant?

    /// The retained state of the gateway.
    struct State: Hashable, Sendable, Encodable {
        var hears: Bool?
        var advertsPerSecond: Int?
        var waiting: Int?

        private enum CodingKeys: String, CodingKey {
            case hears, advertsPerSecond, waiting, version
        }

        /// Writes every key, unknown values as null, as templates read every key.
        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(hears, forKey: .hears)
            try values.encode(advertsPerSecond, forKey: .advertsPerSecond)
            try values.encode(waiting, forKey: .waiting)
            try values.encode(ProgramVersion.current, forKey: .version)
        }
    }

    /// Receives diagnostics.
    ///
    /// - Returns: true where ``published`` changed.
    mutating func receive(_ new: GatewayDiagnostics, at now: ContinuousClock.Instant) -> Bool {
        let rate = new.advertsPerSecond.isFinite ? Int(min(max(new.advertsPerSecond, 0), 1e6).rounded()) : 0
        var next = State(hears: new.hears, advertsPerSecond: rate, waiting: new.waiting)
        // A fifth up or down is noise: adverts come by chance.
        if let before = published.advertsPerSecond, abs(rate - before) * 5 < max(before, 5),
            (rate == 0) == (before == 0)
        {
            next.advertsPerSecond = before
        }
        guard next != published else { return false }
        if next.hears == published.hears, let lastChange, now - lastChange < Self.minimumInterval { return false }
        published = next
        lastChange = now
        return true
    }
}
