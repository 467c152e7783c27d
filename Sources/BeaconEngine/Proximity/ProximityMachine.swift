public import BeaconModel

/// A pure machine that decides which beacons are near, stay and are gone: changes of proximity in, moments out.
///
/// A beacon that is near for an hour is near once. It is so again after it was not for ``patience``, so that one at the
/// border of a class does not run a program again and again. The machine has no clock: a deadline passes with
/// ``advance(to:)`` or the beacon's next change, and its moment has the deadline's own time.
///
/// The same changes in the same order give the same moments, however often time is said to have passed in between, as
/// long as all changes of a second are received before time advances to it.
public struct ProximityMachine: Sendable {
    /// The time for which a beacon may be less near without having left, the silence that makes a receiver deaf, and
    /// the time in which an app that repeats itself reports nothing new. A choice: the classes have a hysteresis of
    /// their own, and an outage that is longer is published.
    public static let patience = 5 * Timestamp.nanosecondsPerSecond

    private struct Key: Hashable {
        var subject: String
        var beacon: BeaconIdentity
    }

    /// The conditions, in the order in which those of one moment are met.
    public var conditions: [ProximityCondition]
    /// The most beacons that are remembered, counted for each subject. Of more, those give way that are gone, and then
    /// those of which nothing was reported for longest.
    public var maximum: Int
    private var beacons: [Key: BeaconMemory] = [:]
    /// No deadline is before it.
    private var next = Timestamp.latest

    /// Creates a machine that has received nothing.
    ///
    /// - Parameters:
    ///   - conditions: the conditions.
    ///   - maximum: the most beacons that are remembered; by default as many as are ranged.
    public init(
        _ conditions: [ProximityCondition], maximum: Int = EngineConfiguration.usualMaximumTrackedBeacons
    ) {
        self.conditions = conditions
        self.maximum = maximum
    }

    /// The number of beacons that are remembered.
    public var count: Int { beacons.count }

    /// Receives a change. For its beacon time passes first, up to when the state before still held.
    ///
    /// - Parameters:
    ///   - change: the change, in the order of time.
    ///   - subject: who reports it; each has its own beacons.
    /// - Returns: the moments, in the order of time.
    public mutating func receive(_ change: ProximityChange, of subject: String = "") -> [ProximityMatch] {
        guard !conditions.isEmpty else { return [] }
        let key = Key(subject: subject, beacon: change.beacon)
        var memory = beacons.removeValue(forKey: key) ?? BeaconMemory(of: change.beacon)
        let due = memory.advance(to: change.heldUntil, for: conditions)
        let matches = due + memory.receive(change, for: conditions)
        if !memory.isOver(at: change.time) {
            if count >= maximum { makeRoom() }
            next = min(next, memory.next)
            beacons[key] = memory
        }
        return matches
    }

    /// Advances the time. All changes up to that moment have been received.
    ///
    /// - Returns: the moments that were due, in the order of time.
    public mutating func advance(to time: Timestamp) -> [ProximityMatch] {
        guard next <= time else { return [] }
        next = .latest
        var matches: [ProximityMatch] = []
        for (key, memory) in beacons {
            var (memory, end) = (memory, memory.next)
            if end <= time {
                matches += memory.advance(to: time, for: conditions)
                let isOver = memory.isOver(at: time)
                beacons[key] = isOver ? nil : memory
                end = isOver ? .latest : memory.next
            }
            next = min(next, end)
        }
        // Dictionary order is unspecified. The sort is stable for the conditions of one beacon.
        return matches.sorted { ($0.time, $0.beacon) < ($1.time, $1.beacon) }
    }

    /// Forgets the beacons that are gone, or else a tenth of all, so that invented ones do not cost a search each.
    private mutating func makeRoom() {
        var keys = beacons.filter(\.value.isGone).map(\.key)
        if keys.isEmpty {
            let oldest = beacons.sorted {
                ($0.value.changed, $0.key.beacon, $0.key.subject) < ($1.value.changed, $1.key.beacon, $1.key.subject)
            }
            keys = oldest.prefix(max(maximum / 10, 1)).map(\.key)
        }
        for key in keys { beacons[key] = nil }
    }
}
