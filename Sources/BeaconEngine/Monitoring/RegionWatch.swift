import BeaconModel

/// The state of a monitored region, and of its settings what decides over it: as small as can be, since each advert of
/// the region's beacons touches it.
struct RegionWatch: BitwiseCopyable {
    /// No receiver has this number, the last of those that a table of names can give out.
    static let anyReceiver: UInt16 = .max

    /// No receiver reports so weak a signal: HCI's readings begin at -127 dBm.
    static let anySignal: Int8 = .min

    /// When the region is left unless an advert comes first, in nanoseconds.
    var deadline: Int64 = 0

    /// The time-out in nanoseconds.
    let exitTimeout: Int64

    let receiver: UInt16

    /// The receiver that last kept the region from being left.
    var lastReceiver = ReceiverID(0)

    let minimumRSSI: Int8
    let exitRSSI: Int8
    let isExitAdaptive: Bool

    var state = RegionState.unknown

    init(_ region: MonitoredRegion) {
        exitTimeout = region.exitTimeout.boundedNanoseconds
        receiver = region.receiver?.index ?? Self.anyReceiver
        minimumRSSI = region.minimumRSSI.map { max($0, Self.anySignal + 1) } ?? Self.anySignal
        exitRSSI = region.exitRSSI ?? Self.anySignal
        isExitAdaptive = region.isExitAdaptive
    }

    /// Takes in an advert of one of the region's beacons.
    ///
    /// - Parameter longestGap: the longest that this beacon was unheard of late, in nanoseconds.
    /// - Returns: the state before, if the advert enters the region; otherwise nil.
    @inline(__always)
    mutating func keep(_ sighting: Sighting, _ time: Int64, longestGap: Int64) -> RegionState? {
        if receiver != Self.anyReceiver, receiver != sighting.receiver.index { return nil }
        let rssi = sighting.rssi
        let isUnread = rssi == .unavailable
        let isInside = state == .inside
        if isInside {
            guard isUnread || rssi.rawValue >= exitRSSI else { return nil }
        } else {
            guard isUnread ? minimumRSSI == Self.anySignal : rssi.rawValue >= minimumRSSI else { return nil }
        }
        let patience =
            isExitAdaptive ? max(exitTimeout, longestGap &* Int64(MonitoredRegion.adaptiveFactor)) : exitTimeout
        deadline = isInside ? max(deadline, time &+ patience) : time &+ patience
        lastReceiver = sighting.receiver
        guard !isInside else { return nil }
        defer { state = .inside }
        return state
    }
}
