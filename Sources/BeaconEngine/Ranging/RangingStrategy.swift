public import BeaconModel

/// The parameters of ranging, from signal to proximity.
public struct RangingStrategy: Sendable {
    /// The filter, from readings to level.
    public var filter: AdaptiveFilter

    /// The model, from level to distance.
    public var distance: TwoSlopeModel

    /// The classifier, from distance to proximity.
    public var classifier: ProximityClassifier

    /// Creates a strategy from its parts.
    public init(
        filter: AdaptiveFilter = AdaptiveFilter(), distance: TwoSlopeModel = TwoSlopeModel(),
        classifier: ProximityClassifier = ProximityClassifier()
    ) {
        self.filter = filter
        self.distance = distance
        self.classifier = classifier
    }
}

/// A classifier of distances into proximities, with hysteresis so that a beacon at a border does not flicker.
public struct ProximityClassifier: Sendable, Hashable {
    /// The distance in meters below which a beacon is immediate. Reports from the field put Apple's limit between 0.3
    /// and 1 m.
    public var immediateLimit: Double

    /// The distance in meters below which a beacon is near. Reports from the field put Apple's limit at about 3 m.
    public var nearLimit: Double

    /// The fraction of a limit by which a distance must pass it before the proximity changes. With the default filter,
    /// 3 % removes up to half of the changes of a beacon that stands still, at no cost in accuracy.
    public var hysteresis: Double

    /// Creates a classifier with these limits.
    public init(immediateLimit: Double = 0.5, nearLimit: Double = 3, hysteresis: Double = 0.03) {
        self.immediateLimit = immediateLimit
        self.nearLimit = nearLimit
        self.hysteresis = hysteresis
    }

    /// Returns the proximity of a beacon.
    ///
    /// - Parameters:
    ///   - distance: the estimate in meters; negative if unknown.
    ///   - previous: the previous proximity.
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
