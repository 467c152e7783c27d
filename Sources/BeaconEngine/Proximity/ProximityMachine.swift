public import BeaconModel

/// A deterministic state machine that decides which beacons are near, stay and are gone: it turns proximity changes
/// into matches.
///
/// A beacon that is near for an hour matches once. It matches again only after it was not near for ``patience``, so
/// that a beacon at the border of a class does not run a program again and again. The machine has no clock: a deadline
/// passes with ``advance(to:)`` or the beacon's next change, and its match has the deadline's own time.
///
/// The same changes in the same order give the same matches, regardless of how often time advances in between, as long
/// as all changes of a second are received before time advances to it.
public struct ProximityMachine: Sendable, Codable {
    /// The time for which a beacon may be less near without having left, the silence that makes a receiver deaf, and
    /// the time in which repeated reports of an app do not count. It is a choice: the classes have their own
    /// hysteresis, and longer outages are published.
    public static let patience = 5 * Timestamp.nanosecondsPerSecond

    private struct Key: Hashable, Codable {
        var subject: String
        var beacon: BeaconIdentity
    }

    /// The conditions. Matches with the same time have this order.
    public var conditions: [ProximityCondition]
    /// The maximum number of remembered beacons, counted for each subject. If there are more, beacons that are gone are
    /// forgotten first, then those without a change for longest.
    public var maximum: Int
    private var beacons: [Key: BeaconMemory] = [:]
    /// A lower bound of all deadlines.
    private var next = Timestamp.latest

    /// Creates a machine without beacons.
    ///
    /// - Parameters:
    ///   - conditions: the conditions.
    ///   - maximum: the maximum number of remembered beacons; by default the maximum that ranging tracks.
    public init(
        _ conditions: [ProximityCondition], maximum: Int = EngineConfiguration.defaultMaximumTrackedBeacons
    ) {
        self.conditions = conditions
        self.maximum = maximum
    }

    /// The number of remembered beacons.
    public var count: Int { beacons.count }

    /// The remembered beacons that are not gone.
    package var present: Set<BeaconIdentity> { Set(beacons.filter { !$0.value.isGone }.map(\.key.beacon)) }

    /// Returns the machine with another identity for each beacon. Beacons without one are forgotten.
    package func mapped(_ identity: (BeaconIdentity) -> BeaconIdentity?) -> ProximityMachine {
        var machine = self
        machine.beacons = [:]
        for (key, memory) in beacons {
            guard let beacon = identity(key.beacon) else { continue }
            machine.beacons[Key(subject: key.subject, beacon: beacon)] = memory.renamed(beacon)
        }
        return machine
    }

    /// Receives a change. First, time passes for its beacon up to the last time at which the previous state held.
    ///
    /// - Parameters:
    ///   - change: the change, in the order of time.
    ///   - subject: the source of the change; each subject has its own beacons.
    /// - Returns: the matches, in the order of time.
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

    /// Advances the time. All changes up to that time must have been received.
    ///
    /// - Returns: the matches that were due, in the order of time.
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

    /// Forgets the beacons that are gone, or else a tenth of all beacons, so that each invented beacon does not cost a
    /// search.
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
