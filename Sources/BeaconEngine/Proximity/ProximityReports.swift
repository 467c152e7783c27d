public import BeaconModel

/// The beacons that each receiver lists: turns the ranging reports of each second into proximity changes.
///
/// If several receivers hear a beacon, the nearest one counts. A receiver without reports is deaf. Its beacons are
/// neither near nor gone but doubtful, until the receiver has listed again what it hears or another receiver decides
/// about them. The type has no clock: each report has its time.
public struct ProximityReports: Sendable {
    /// A beacon in a receiver's list.
    public struct Listing: Sendable {
        /// The beacon.
        public var beacon: RangedBeacon
        /// The receiver's name.
        public var receiver: String
        /// The constraint that ranges it; nil for every beacon.
        public var constraint: BeaconConstraint?
        fileprivate var time: Timestamp
        fileprivate var isDoubtful = false
        fileprivate var state: ProximityChange.State {
            isDoubtful || beacon.isUndecided ? .doubtful : .at(beacon.proximity)
        }
    }

    /// A list belongs to a receiver and a constraint. Numbers and names of receivers can be reused, so both are in the
    /// key.
    private struct Key: Hashable {
        var receiver: ReceiverID
        var name: String
        var constraint: BeaconConstraint?
    }

    private struct List {
        /// The time of the newest report.
        var time: Timestamp
        var isDeaf = false
        /// The time until which beacons from before a deafness are doubtful if they are not listed again.
        var relistingEnd = Timestamp.zero
        var beacons: [BeaconIdentity: Listing] = [:]
    }

    /// The time that a receiver has after a deafness to list its beacons again before missing beacons count as gone:
    /// the time for which ranging lists an unheard beacon.
    private static let relisting = Engine.goneAfter

    /// The time of the newest report.
    public private(set) var time = Timestamp.zero
    /// The maximum number of listed beacons. Further beacons are ignored.
    public var maximum: Int
    /// The number of ignored beacons, counted in each report.
    public private(set) var ignored = 0

    /// The second before the newest.
    private var previous = Timestamp.zero
    private var lists: [Key: List] = [:]
    /// The lists that contain each beacon.
    private var holders: [BeaconIdentity: [Key]] = [:]
    /// The states of the listed beacons.
    private var states: [BeaconIdentity: ProximityChange.State] = [:]
    /// The beacons that were gone in the newest second, as they were last listed.
    private var departed: [BeaconIdentity: Listing] = [:]

    /// Creates empty lists.
    ///
    /// - Parameter maximum: the maximum number of listed beacons; by default the maximum that ranging tracks.
    public init(maximum: Int = EngineConfiguration.defaultMaximumTrackedBeacons) { self.maximum = maximum }

    /// Receives the report of a second, in the order of time.
    ///
    /// - Parameters:
    ///   - report: the report. Its own time is ignored.
    ///   - time: the same second, by a steady clock. A time before the newest counts as the newest.
    ///   - receiver: the number of the receiver.
    /// - Returns: the changes, in the order of the report.
    public mutating func receive(
        _ report: RangingEvent, at time: Timestamp, from receiver: ReceiverID = ReceiverID(0)
    ) -> [ProximityChange] {
        var changes: [ProximityChange] = []
        if time > self.time {
            (previous, self.time) = (self.time, time)
            departed = [:]
            changes = doubtDeaf()
        }
        let key = Key(receiver: receiver, name: report.receiver, constraint: report.constraint)
        if lists[key]?.isDeaf == true { lists[key]?.relistingEnd = self.time.advanced(by: Self.relisting) }
        lists[key, default: List(time: self.time)].isDeaf = false
        lists[key]?.time = self.time
        for beacon in report.beacons {
            let identity = beacon.identity
            let old = lists[key]?.beacons[identity]
            // The nearest is first. It counts if two devices have one identity.
            if let old, old.time == self.time { continue }
            guard states[identity] != nil || states.count < maximum else {
                ignored += 1
                continue
            }
            let new = Listing(
                beacon: beacon, receiver: report.receiver, constraint: report.constraint, time: self.time)
            lists[key]?.beacons[identity] = new
            if old == nil { holders[identity, default: []].append(key) }
            if old?.state != new.state { changes += change(of: identity) }
        }
        let missing = lists[key]?.beacons.filter { $0.value.time != self.time }.keys.sorted() ?? []
        for identity in missing {
            if self.time < lists[key]?.relistingEnd ?? .zero {
                lists[key]?.beacons[identity]?.isDoubtful = true
            } else {
                departed[identity] = remove(identity, from: key)
            }
            changes += change(of: identity)
        }
        return changes
    }

    /// Marks the lists of receivers that have not reported for a while as doubtful.
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

    /// Returns the change of a beacon if its state has changed; otherwise none.
    private mutating func change(of beacon: BeaconIdentity) -> [ProximityChange] {
        let nearest = nearest(beacon)
        if let nearest, nearest.state != .doubtful {
            // A beacon that another receiver decides about is no longer doubtful.
            for key in holders[beacon] ?? [] where lists[key]?.beacons[beacon]?.isDoubtful == true {
                remove(beacon, from: key)
            }
        }
        let state = nearest?.state ?? .gone
        guard state != states[beacon] ?? .gone else { return [] }
        states[beacon] = state == .gone ? nil : state
        return [ProximityChange(beacon, state, at: time, heldUntil: previous)]
    }

    private func nearest(_ beacon: BeaconIdentity) -> Listing? {
        // Dictionary order is unspecified, so ties are broken by the receiver's name and then the constraint.
        func order(_ listing: Listing) -> (Int, String, String) {
            (-listing.state.rank, listing.receiver, listing.constraint?.description ?? "")
        }
        return (holders[beacon] ?? []).compactMap { lists[$0]?.beacons[beacon] }.min { order($0) < order($1) }
    }

    @discardableResult
    private mutating func remove(_ beacon: BeaconIdentity, from key: Key) -> Listing? {
        holders[beacon]?.removeAll { $0 == key }
        if holders[beacon]?.isEmpty == true { holders[beacon] = nil }
        return lists[key]?.beacons.removeValue(forKey: beacon)
    }

    // MARK: - Listed beacons

    /// The listed beacons, as changes of the newest second. A new machine begins with them.
    public var standing: [ProximityChange] {
        states.sorted { $0.key < $1.key }.map { ProximityChange($0.key, $0.value, at: time, heldUntil: previous) }
    }

    /// The beacons in the newest report of each receiver, in unspecified order.
    public var present: [RangedBeacon] {
        lists.values.flatMap { list in list.beacons.values.filter { $0.time == list.time }.map(\.beacon) }
    }

    /// Returns a beacon from the list of the nearest receiver, or its last listing; nil if it is forgotten.
    public func listing(of beacon: BeaconIdentity) -> Listing? { nearest(beacon) ?? departed[beacon] }

    /// Returns the event for a match in the newest second, with the beacon's current or last listing.
    ///
    /// - Parameters:
    ///   - match: the match.
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
