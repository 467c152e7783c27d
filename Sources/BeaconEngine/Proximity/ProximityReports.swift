public import BeaconModel

/// The lists of receivers: it turns the ranging reports of each second into changes of proximity.
///
/// A receiver that gives no reports is deaf, and its beacons are neither near nor gone: they are doubtful, until it has
/// listed again what it hears. A second consists of the reports of all receivers, each with its own list. It is pure:
/// each report comes with its time.
public struct ProximityReports: Sendable {
    /// A beacon as a receiver lists it.
    public struct Listing: Hashable, Sendable {
        /// The beacon.
        public var beacon: RangedBeacon
        /// The constraint that it is ranged by; nil for every beacon.
        public var constraint: BeaconConstraint?
        fileprivate var time: Timestamp
        fileprivate var isDoubtful = false
    }

    private struct List {
        var receiver: ProximityChange.Receiver
        /// The time of the newest report.
        var time: Timestamp
        var isDeaf = false
        /// Until when what was listed before a deafness is doubtful, where it is not listed again.
        var relistingEnd = Timestamp.zero
        var beacons: [BeaconIdentity: Listing] = [:]
    }

    private struct Key: Hashable {
        var receiver: ProximityChange.Receiver
        var beacon: BeaconIdentity
    }

    /// The time of the newest report.
    public private(set) var time = Timestamp.zero
    /// The number of beacons that are listed, counted for each receiver.
    public private(set) var count = 0
    /// The most beacons that are listed. Further ones are ignored.
    public var maximum: Int
    /// The number of times that a beacon of a report was ignored.
    public private(set) var ignored = 0

    /// The second before the newest.
    private var previous = Timestamp.zero
    private var lists: [ReceiverID: List] = [:]
    /// The beacons that were gone in the newest second, as they were listed last.
    private var departed: [Key: Listing] = [:]

    /// Creates lists without a beacon.
    ///
    /// - Parameter maximum: the most beacons that are listed; by default as many as are ranged.
    public init(maximum: Int = EngineConfiguration().maximumTrackedBeacons) { self.maximum = maximum }

    // MARK: - Reports

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
        let source = ProximityChange.Receiver(id: receiver, name: report.receiver)
        var changes = doubtDeaf()
        var list = lists.removeValue(forKey: receiver) ?? List(receiver: source, time: self.time)
        if list.receiver != source {
            changes += doubt(&list)
            count -= list.beacons.count
            list = List(receiver: source, time: self.time)
        }
        if list.isDeaf {
            list.isDeaf = false
            list.relistingEnd = self.time.advanced(by: ProximityTimes.relisting)
        }
        list.time = self.time
        // The nearest first: of two of one identity, that one counts.
        for beacon in report.beacons { add(beacon, to: &list, by: report.constraint, changes: &changes) }
        changes += removeMissing(from: &list, by: report.constraint)
        lists[receiver] = list
        return changes
    }

    private mutating func add(
        _ beacon: RangedBeacon, to list: inout List, by constraint: BeaconConstraint?, changes: inout [ProximityChange]
    ) {
        let old = list.beacons[beacon.identity]
        // Also by another constraint of this second.
        if let old, old.time == time, !old.isDoubtful { return }
        if old == nil {
            guard count < maximum else {
                ignored += 1
                return
            }
            count += 1
        }
        list.beacons[beacon.identity] = Listing(beacon: beacon, constraint: constraint, time: time)
        guard old?.beacon.proximity != beacon.proximity || old?.isDoubtful == true else { return }
        changes.append(
            ProximityChange(
                beacon.identity, .at(beacon.proximity), by: list.receiver, at: time, heldUntil: previous))
    }

    /// Removes the beacons that a report would have and has not.
    private mutating func removeMissing(
        from list: inout List, by constraint: BeaconConstraint?
    ) -> [ProximityChange] {
        // Dictionary order is unspecified.
        let missing = list.beacons.filter {
            $0.value.time != time && (constraint?.matches($0.key) ?? true)
        }.keys.sorted()
        var changes: [ProximityChange] = []
        for identity in missing {
            var state = ProximityChange.State.gone
            if time < list.relistingEnd {
                guard list.beacons[identity]?.isDoubtful == false else { continue }
                list.beacons[identity]?.isDoubtful = true
                state = .doubtful
            } else {
                departed[Key(receiver: list.receiver, beacon: identity)] = list.beacons.removeValue(forKey: identity)
                count -= 1
            }
            changes.append(ProximityChange(identity, state, by: list.receiver, at: time, heldUntil: previous))
        }
        return changes
    }

    /// Doubts what receivers listed that have given no report for a while: they are deaf since the second before.
    private mutating func doubtDeaf() -> [ProximityChange] {
        let deaf = lists.filter { !$0.value.isDeaf && time.since($0.value.time) >= ProximityTimes.patience }.keys
        guard !deaf.isEmpty else { return [] }
        return deaf.sorted { $0.index < $1.index }.flatMap { receiver -> [ProximityChange] in
            lists[receiver]?.isDeaf = true
            return lists[receiver].map { doubt(&lists[receiver, default: $0]) } ?? []
        }
    }

    private func doubt(_ list: inout List) -> [ProximityChange] {
        list.beacons.filter { !$0.value.isDoubtful }.keys.sorted().map { identity in
            list.beacons[identity]?.isDoubtful = true
            return ProximityChange(identity, .doubtful, by: list.receiver, at: previous, heldUntil: previous)
        }
    }

    // MARK: - What is listed

    /// The beacons that are listed, as changes of the newest second, with which a new machine begins.
    public var standing: [ProximityChange] {
        lists.values.flatMap { list in
            list.beacons.filter { !$0.value.isDoubtful }.map { identity, listing in
                ProximityChange(
                    identity, .at(listing.beacon.proximity), by: list.receiver, at: time, heldUntil: previous)
            }
        }.sorted { ($0.beacon, $0.receiver.id.index) < ($1.beacon, $1.receiver.id.index) }
    }

    /// The beacons in the newest report of each receiver, in no order.
    public var present: [RangedBeacon] {
        lists.values.flatMap { list in list.beacons.values.filter { $0.time == list.time }.map(\.beacon) }
    }

    /// Returns a beacon as a receiver lists it, or did so last; nil where it is forgotten.
    public func listing(of beacon: BeaconIdentity, by receiver: ProximityChange.Receiver) -> Listing? {
        if let list = lists[receiver.id], list.receiver == receiver, let listing = list.beacons[beacon] {
            return listing
        }
        return departed[Key(receiver: receiver, beacon: beacon)]
    }

    /// Returns what programs get for a moment of the newest second: the beacon as it is listed then, or was last.
    ///
    /// - Parameters:
    ///   - moment: the moment.
    ///   - time: the time of the second, by the wall clock.
    public func event(of moment: ProximityMoment, at time: Timestamp) -> ProximityEvent {
        let listing = listing(of: moment.beacon, by: moment.receiver)
        var event = ProximityEvent(
            time: time, receiver: moment.receiver.name, name: "proximity",
            beacon: listing?.beacon
                ?? RangedBeacon(
                    address: DeviceAddress(bits: 0, kind: .unspecified), identity: moment.beacon,
                    proximity: moment.proximity ?? .unknown, accuracy: -1, rssi: 0, lastHeard: time),
            constraint: listing?.constraint)
        if case .near(let proximity, for: let duration) = moment.condition {
            event.reached = proximity
            event.duration = duration
            if duration > .zero { event.name = "stays" }
        } else {
            event.name = "gone"
            event.beacon.proximity = .unknown
            event.beacon.accuracy = -1
            event.beacon.rssi = 0
        }
        return event
    }
}
