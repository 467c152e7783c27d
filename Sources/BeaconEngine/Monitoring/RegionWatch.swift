import BeaconModel

/// The state of a monitored region, and of its settings what decides over it: as small as can be, since each advert of
/// the region's beacons touches it.
struct RegionWatch: BitwiseCopyable {
    static let anyReceiver: Int32 = -1

    /// When the region is left unless an advert comes first, in nanoseconds.
    var deadline: Int64 = 0

    /// The time-out in nanoseconds.
    let exitTimeout: Int64

    let receiver: Int32

    /// -128 where any signal will do.
    let minimumRSSI: Int8
    let exitRSSI: Int8
    let isExitAdaptive: Bool
    let hasMinimum: Bool

    var state = RegionState.unknown

    /// The receiver that last kept the region from being left.
    var lastReceiver = ReceiverID(0)

    init(_ region: MonitoredRegion) {
        exitTimeout = region.exitTimeout.boundedNanoseconds
        receiver = region.receiver.map { Int32($0.index) } ?? Self.anyReceiver
        hasMinimum = region.minimumRSSI != nil
        minimumRSSI = region.minimumRSSI ?? .min
        exitRSSI = region.exitRSSI ?? .min
        isExitAdaptive = region.isExitAdaptive
    }

    /// Takes in an advert of one of the region's beacons.
    ///
    /// - Parameter longestGap: the longest that this beacon was unheard of late, in nanoseconds.
    /// - Returns: the state before, if the advert enters the region; otherwise nil.
    @inline(__always)
    mutating func keep(_ sighting: Sighting, _ time: Int64, longestGap: Int64) -> RegionState? {
        if receiver != Self.anyReceiver, receiver != Int32(sighting.receiver.index) { return nil }
        let rssi = sighting.rssi
        let isUnread = rssi == .unavailable
        let isInside = state == .inside
        if isInside {
            guard isUnread || rssi.rawValue >= exitRSSI else { return nil }
        } else {
            guard isUnread ? !hasMinimum : rssi.rawValue >= minimumRSSI else { return nil }
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
