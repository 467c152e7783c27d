/// Sorts distances into nearness, with hysteresis so that a beacon at a border does not flicker.
public struct ProximityClassifier: Sendable, Hashable {
    /// Closer than this, in metres, is immediate. Reports from the field put Apple's border between 0.3 and 1 m.
    public var immediateLimit: Double

    /// Closer than this, in metres, is near. Reports from the field put Apple's border at about 3 m.
    public var nearLimit: Double

    /// A border has to be passed by this part of itself before the nearness changes. With the default filter, 3 % removes
    /// up to half of the changes of a beacon that stands still, at no cost in accuracy.
    public var hysteresis: Double

    /// A classifier with these borders.
    public init(immediateLimit: Double = 0.5, nearLimit: Double = 3, hysteresis: Double = 0.03) {
        self.immediateLimit = immediateLimit
        self.nearLimit = nearLimit
        self.hysteresis = hysteresis
    }

    /// How near a beacon is.
    ///
    /// - Parameters:
    ///   - distance: the estimate in metres; negative where there is none.
    ///   - previous: the answer before.
    public func classify(_ distance: Double, previous: Proximity) -> Proximity {
        guard distance >= 0 else { return .unknown }
        let isBelowImmediate = isBelow(immediateLimit, distance, wasBelow: previous == .immediate, previous)
        if isBelowImmediate { return .immediate }
        return isBelow(nearLimit, distance, wasBelow: previous == .immediate || previous == .near, previous)
            ? .near : .far
    }

    private func isBelow(_ limit: Double, _ distance: Double, wasBelow: Bool, _ previous: Proximity) -> Bool {
        guard previous != .unknown else { return distance < limit }
        return distance < (wasBelow ? limit * (1 + hysteresis) : limit / (1 + hysteresis))
    }
}
