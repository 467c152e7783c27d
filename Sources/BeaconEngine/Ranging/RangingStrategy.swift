/// How signal becomes nearness: three pieces, each of which can be replaced.
public struct RangingStrategy: Sendable {
    /// Readings to level.
    public var filter: any SignalFilter

    /// Level to distance.
    public var distance: any DistanceModel

    /// Distance to nearness.
    public var classifier: ProximityClassifier

    /// A strategy of these pieces.
    public init(
        filter: any SignalFilter = AdaptiveFilter(),
        distance: any DistanceModel = TwoSlopeModel(),
        classifier: ProximityClassifier = ProximityClassifier()
    ) {
        self.filter = filter
        self.distance = distance
        self.classifier = classifier
    }
}
