public import BeaconModel

/// What decides over a region at the moment, for people who ask why it is as it is.
public struct RegionExplanation: Hashable, Sendable {
    /// The engine's state of it.
    public var state: RegionState
    /// The moment at which it changes unless an advert comes first; nil where nothing changes it but adverts.
    public var deadline: Timestamp?
    /// The time unheard after which it is left.
    public var exitTimeout: Duration
    /// True where that grows with the gaps between the beacon's adverts.
    public var isExitAdaptive: Bool
    /// The weakest signal that enters it, in dBm; nil for any.
    public var minimumRSSI: Int?
    /// The weakest signal that keeps it, in dBm; nil for any.
    public var exitRSSI: Int?
    /// True where both are learnt.
    public var isSignalLearned: Bool
    /// The receiver that kept it last.
    public var receiver: ReceiverID?
}

extension Engine {
    /// Returns what decides over a region; nil where it is not monitored.
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
