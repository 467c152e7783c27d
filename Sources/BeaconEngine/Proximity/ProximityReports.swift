public import BeaconModel

/// The lists of receivers: it turns the ranging reports of each second into changes of proximity.
///
/// Of several receivers that hear a beacon the nearest counts. One that gives no reports is deaf, and its beacons are
/// neither near nor gone: they are doubtful, until it has listed again what it hears, or another one hears them. It is
/// pure: each report comes with its time.
public struct ProximityReports: Sendable {
    /// A beacon as a receiver lists it.
    public struct Listing: Sendable {
        /// The beacon.
        public var beacon: RangedBeacon
        /// The receiver's name.
        public var receiver: String
        /// The constraint that it is ranged by; nil for every beacon.
        public var constraint: BeaconConstraint?
        fileprivate var time: Timestamp
        fileprivate var isDoubtful = false
        fileprivate var state: ProximityChange.State { isDoubtful ? .doubtful : .at(beacon.proximity) }
    }

    /// A list is a receiver's, of a constraint. Another receiver may get its number, and another have its name.
    private struct Key: Hashable {
        var receiver: ReceiverID
        var name: String
        var constraint: BeaconConstraint?
    }

    private struct List {
        /// The time of the newest report.
        var time: Timestamp
        var isDeaf = false
        /// Until when what was listed before a deafness is doubtful, where it is not listed again.
        var relistingEnd = Timestamp.zero
        var beacons: [BeaconIdentity: Listing] = [:]
    }

    /// The time for which a receiver that was deaf lists again what it hears, before a beacon that it listed earlier
    /// counts as gone: as long as ranging lists a beacon that is not heard.
    private static let relisting = Engine.goneAfter

    /// The time of the newest report.
    public private(set) var time = Timestamp.zero
    /// The most beacons that are listed. Further ones are ignored.
    public var maximum: Int
    /// The number of times that a beacon of a report was ignored.
    public private(set) var ignored = 0

    /// The second before the newest.
    private var previous = Timestamp.zero
    private var lists: [Key: List] = [:]
    /// The states of the beacons that are listed.
    private var states: [BeaconIdentity: ProximityChange.State] = [:]
    /// The beacons that were gone in the newest second, as they were listed last.
    private var departed: [BeaconIdentity: Listing] = [:]

    /// Creates lists without a beacon.
    ///
    /// - Parameter maximum: the most beacons that are listed; by default as many as are ranged.
    public init(maximum: Int = EngineConfiguration.usualMaximumTrackedBeacons) { self.maximum = maximum }

    /// Receives the report of a second, in the order of time.
    ///
    /// - Parameters:
    ///   - report: the report. Its own time does not count.
    ///   - time: the same second, by an even clock. One before the newest counts as the newest.
    ///   - receiver: the number of the receiver.
    /// - Returns: the changes, those of the report in its order.
    public mutating func receive(
        _ report: RangingEvent, at time: Timestamp, from receiver: ReceiverID = ReceiverID(0)
    ) -> [ProximityChange] {
        if time > self.time {
            (previous, self.time) = (self.time, time)
            departed = [:]
        }
        var changes = doubtDeaf()
        let key = Key(receiver: receiver, name: report.receiver, constraint: report.constraint)
        if lists[key]?.isDeaf == true { lists[key]?.relistingEnd = self.time.advanced(by: Self.relisting) }
        lists[key, default: List(time: self.time)].isDeaf = false
        lists[key]?.time = self.time
        for beacon in report.beacons {
            let identity = beacon.identity
            let old = lists[key]?.beacons[identity]
            // The nearest first: of two devices of one identity, that one counts.
            if let old, old.time == self.time { continue }
            guard states[identity] != nil || states.count < maximum else {
                ignored += 1
                continue
            }
            let new = Listing(
                beacon: beacon, receiver: report.receiver, constraint: report.constraint, time: self.time)
            lists[key]?.beacons[identity] = new
            if old?.state != new.state { changes += change(of: identity) }
        }
        let missing = lists[key]?.beacons.filter { $0.value.time != self.time }.keys.sorted() ?? []
        for identity in missing {
            if self.time < lists[key]?.relistingEnd ?? .zero {
                lists[key]?.beacons[identity]?.isDoubtful = true
            } else {
                departed[identity] = lists[key]?.beacons.removeValue(forKey: identity)
            }
            changes += change(of: identity)
        }
        return changes
    }

    /// Doubts what receivers listed that have given no report for a while.
    private mutating func doubtDeaf() -> [ProximityChange] {
        let deaf = lists.filter { !$0.value.isDeaf && time.since($0.value.time) >= ProximityMachine.patience }
        guard !deaf.isEmpty else { return [] }
        for (key, list) in deaf {
            lists[key]?.isDeaf = true
            for identity in list.beacons.keys { lists[key]?.beacons[identity]?.isDoubtful = true }
        }
        let changes = Set(deaf.values.flatMap(\.beacons.keys)).sorted().flatMap { change(of: $0) }
        lists = lists.filter { !$0.value.isDeaf || !$0.value.beacons.isEmpty }
        return changes
    }

    /// Returns the change of a beacon whose listing is another; none where it does not count.
    private mutating func change(of beacon: BeaconIdentity) -> [ProximityChange] {
        let nearest = nearest(beacon)
        if nearest?.isDoubtful == false {
            // One that is heard elsewhere is no longer doubtful. A copy, so that no list is copied.
            for key in Array(lists.keys) where lists[key]?.beacons[beacon]?.isDoubtful == true {
                lists[key]?.beacons[beacon] = nil
            }
        }
        let state = nearest?.state ?? .gone
        guard state != states[beacon] ?? .gone else { return [] }
        states[beacon] = state == .gone ? nil : state
        return [ProximityChange(beacon, state, at: time, heldUntil: previous)]
    }

    private func nearest(_ beacon: BeaconIdentity) -> Listing? {
        // Dictionary order is unspecified: of equal ones the first name, and then the first constraint.
        func order(_ listing: Listing) -> (Int, String, String) {
            (-listing.state.rank, listing.receiver, listing.constraint?.description ?? "")
        }
        return lists.values.compactMap { $0.beacons[beacon] }.min { order($0) < order($1) }
    }

    // MARK: - What is listed

    /// The beacons that are listed, as changes of the newest second, with which a new machine begins.
    public var standing: [ProximityChange] {
        states.sorted { $0.key < $1.key }.map { ProximityChange($0.key, $0.value, at: time, heldUntil: previous) }
    }

    /// The beacons in the newest report of each receiver, in no order.
    public var present: [RangedBeacon] {
        lists.values.flatMap { list in list.beacons.values.filter { $0.time == list.time }.map(\.beacon) }
    }

    /// Returns a beacon as the nearest receiver lists it, or did so last; nil where it is forgotten.
    public func listing(of beacon: BeaconIdentity) -> Listing? { nearest(beacon) ?? departed[beacon] }

    /// Returns what programs get for a moment of the newest second: the beacon as it is listed then, or was last.
    ///
    /// - Parameters:
    ///   - moment: the moment.
    ///   - time: the time of the second, by the wall clock.
    public func event(of match: ProximityMatch, at time: Timestamp) -> ProximityEvent? {
        guard let listing = listing(of: match.beacon) else { return nil }
        var event = ProximityEvent(
            time: time.advanced(by: match.time.since(self.time)), receiver: listing.receiver, name: "gone",
            beacon: listing.beacon, constraint: listing.constraint)
        if case .near(let proximity, for: let duration) = match.condition {
            (event.reached, event.duration) = (proximity, duration)
            event.name = duration > .zero ? "stays" : "proximity"
        } else {
            (event.beacon.proximity, event.beacon.accuracy, event.beacon.rssi) = (.unknown, -1, 0)
        }
        return event
    }
}
