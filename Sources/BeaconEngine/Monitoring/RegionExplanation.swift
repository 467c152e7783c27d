public import BeaconModel

/// The current inputs of the decision about a region, for diagnosis.
public struct RegionExplanation: Hashable, Sendable {
    /// The engine's state of the region.
    public var state: RegionState
    /// The time at which the state changes unless an advert arrives first; nil if only an advert can change it.
    public var deadline: Timestamp?
    /// The time without an advert after which the region is left.
    public var exitTimeout: Duration
    /// True if the time-out grows with the gaps between the beacon's adverts.
    public var isExitAdaptive: Bool
    /// The weakest signal that enters the region, in dBm; nil for any.
    public var minimumRSSI: Int?
    /// The weakest signal that keeps the region, in dBm; nil for any.
    public var exitRSSI: Int?
    /// True if both levels are learned.
    public var isSignalLearned: Bool
    /// The receiver that last kept the region.
    public var receiver: ReceiverID?
}

extension Engine {
    /// Returns the inputs of the decision about a region; nil if it is not monitored.
    public func explanation(of region: RegionID) -> RegionExplanation? {
        guard regions[region.slot] != nil else { return nil }
        let watch = watches[Int(region.number)]
        func level(_ rssi: Int8) -> Int? { rssi == RegionWatch.anySignal ? nil : Int(rssi) }
        return RegionExplanation(
            state: watch.state, deadline: watch.deadline == .max ? nil : Timestamp(nanoseconds: watch.deadline),
            exitTimeout: .nanoseconds(watch.exitTimeout), isExitAdaptive: watch.isExitAdaptive,
            minimumRSSI: level(watch.minimumRSSI), exitRSSI: level(watch.exitRSSI),
            isSignalLearned: watch.isSignalLearned,
            receiver: watch.lastReceiver == RegionWatch.anyReceiver ? nil : ReceiverID(watch.lastReceiver))
    }
}
