public import BeaconModel

/// A pure machine that decides which beacons are near, stay and are gone: changes of proximity in, moments out.
///
/// A beacon that is near for an hour is near once. It is so again after it was not for ``ProximityTimes/patience``, so
/// that one at the border of a class does not run a program again and again. Of several receivers the nearest counts,
/// and a doubtful beacon is gone only once no receiver lists it. The machine has no clock: a deadline passes with
/// ``advance(to:of:)`` or a later change, and its moment has the deadline's own time.
///
/// The same changes in the same order give the same moments, however often time is said to have passed in between, as
/// long as all changes of a second are received before time advances to it.
public struct ProximityMachine: Sendable {
    /// A reporter with its own clock and receivers: this process, an app on a phone, another gateway.
    private struct Subject {
        var beacons: [BeaconIdentity: BeaconMemory] = [:]
        var newest: Timestamp
        /// No deadline is before it.
        var next = Timestamp.latest
    }

    /// The conditions, in the order in which those of one moment are met.
    public var conditions: [ProximityCondition]
    /// The most beacons that are remembered, counted for each subject. Of more, those give way that are gone, and then
    /// those of which nothing was reported for longest.
    public var maximum: Int
    /// The number of beacons that are remembered.
    public private(set) var count = 0
    private var subjects: [String: Subject] = [:]

    /// Creates a machine that has received nothing.
    ///
    /// - Parameters:
    ///   - conditions: the conditions.
    ///   - maximum: the most beacons that are remembered; by default as many as are ranged.
    public init(
        _ conditions: [ProximityCondition], maximum: Int = EngineConfiguration().maximumTrackedBeacons
    ) {
        self.conditions = conditions
        self.maximum = maximum
    }

    /// The earliest moment at which something may be due; nil where nothing is.
    public var nextDeadline: Timestamp? {
        subjects.values.lazy.map(\.next).filter { $0 < .latest }.min()
    }

    /// Receives a change. Time passes first, up to when the state before still held.
    ///
    /// - Parameters:
    ///   - change: the change. A time before the newest of its subject counts as the newest.
    ///   - subject: the reporter; each has its own clock and receivers.
    /// - Returns: the moments, in the order of time.
    public mutating func receive(_ change: ProximityChange, of subject: String = "") -> [ProximityMoment] {
        guard !conditions.isEmpty else { return [] }
        var moments = advance(to: change.heldUntil, of: subject)
        if subjects[subject]?.beacons[change.beacon] == nil {
            guard case .at = change.state else { return moments }
            if count >= maximum { makeRoom() }
            count += 1
        }
        var known = subjects.removeValue(forKey: subject) ?? Subject(newest: change.time)
        known.newest = max(known.newest, change.time)
        var beacon = known.beacons.removeValue(forKey: change.beacon) ?? BeaconMemory(seen: known.newest)
        moments += beacon.receive(change, at: known.newest, for: conditions)
        if beacon.isOver(at: known.newest) {
            count -= 1
        } else {
            known.next = min(known.next, beacon.next)
            known.beacons[change.beacon] = beacon
        }
        if !known.beacons.isEmpty { subjects[subject] = known }
        return moments
    }

    /// Advances the time of a subject. All its changes up to that moment have been received.
    ///
    /// - Returns: the moments that were due, in the order of time.
    public mutating func advance(to time: Timestamp, of subject: String = "") -> [ProximityMoment] {
        guard let next = subjects[subject]?.next, next <= time, var known = subjects.removeValue(forKey: subject)
        else { return [] }
        var moments: [ProximityMoment] = []
        known.next = .latest
        known.newest = max(known.newest, time)
        for (identity, memory) in known.beacons {
            var (beacon, next) = (memory, memory.next)
            if next <= time {
                moments += beacon.advance(to: time, identity, for: conditions)
                let isOver = beacon.isOver(at: time)
                known.beacons[identity] = isOver ? nil : beacon
                if isOver { count -= 1 }
                next = isOver ? .latest : beacon.next
            }
            known.next = min(known.next, next)
        }
        if !known.beacons.isEmpty { subjects[subject] = known }
        // Dictionary order is unspecified. The sort is stable for the conditions of one beacon.
        return moments.sorted { ($0.time, $0.beacon) < ($1.time, $1.beacon) }
    }

    /// Forgets the beacons that are gone, or else a tenth of all, so that invented ones do not cost a search each.
    private mutating func makeRoom() {
        var all = subjects.flatMap { subject, known in
            known.beacons.map { (subject: subject, beacon: $0.key, seen: $0.value.seen, isGone: $0.value.isGone) }
        }
        if all.contains(where: \.isGone) {
            all.removeAll { !$0.isGone }
        } else {
            all.sort { ($0.seen, $0.subject, $0.beacon) < ($1.seen, $1.subject, $1.beacon) }
            all.removeLast(all.count - min(all.count, max(maximum / 10, 1)))
        }
        for one in all {
            subjects[one.subject]?.beacons[one.beacon] = nil
            if subjects[one.subject]?.beacons.isEmpty == true { subjects[one.subject] = nil }
        }
        count -= all.count
    }
}
