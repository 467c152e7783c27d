import BeaconEngine
import BeaconModel

/// What is remembered of the newest report of one receiver in one region, and of what was told of its beacons.
struct BeaconReport {
    /// What is remembered of one identity. Two devices may share it, so that it can be at several proximities.
    struct Memory {
        /// The proximities at which the newest report has it, by bits; none where the newest report lacks it.
        var proximities: UInt8 = 0
        /// The proximities of which was told last, by bits.
        var told: UInt8 = 0
        /// When that was.
        var toldAt: Timestamp?
        /// Whether a change waits for the end of the cool-down.
        var hasPendingChange = false
        /// The nearest device of the identity in the newest report.
        var proximity = Proximity.unknown
        var accuracy = -1.0
        var rssi = 0
    }

    /// A change that is worth telling.
    struct Change {
        var identity: BeaconIdentity
        var isGone = false
        var proximity = Proximity.unknown
        var accuracy = -1.0
        var rssi: Int?
    }

    private(set) var time = Timestamp.zero
    private(set) var beacons: [BeaconIdentity: Memory] = [:]

    /// Takes a report, nearest beacon first, and says what has changed.
    ///
    /// - Parameters:
    ///   - maximum: how many beacons may be remembered.
    ///   - tellsGone: whether it is told that a beacon is gone.
    ///   - isNear: whether a proximity is to be told.
    ///   - ignored: counts beacons beyond the maximum.
    mutating func take(
        _ report: ArraySlice<RangedBeacon>, at time: Timestamp, coolDown: Int64, maximum: Int, tellsGone: Bool,
        isNear: (Proximity) -> Bool, ignored: inout Int
    ) -> [Change] {
        self.time = time
        var before: [BeaconIdentity: UInt8] = [:]
        before.reserveCapacity(beacons.count)
        for (identity, memory) in beacons where memory.proximities != 0 {
            before[identity] = memory.proximities
            beacons[identity]?.proximities = 0
        }
        var changes: [Change] = []
        for beacon in report {
            let identity = beacon.identity
            if beacons[identity] == nil, beacons.count >= maximum {
                forgetAbsent(before)
                guard beacons.count < maximum else {
                    ignored += 1
                    continue
                }
            }
            let bit = UInt8(1) << beacon.proximity.rawValue
            var memory = beacons[identity] ?? Memory()
            if memory.proximities == 0 {
                memory.proximity = beacon.proximity
                memory.accuracy = beacon.accuracy
                memory.rssi = beacon.rssi
            }
            memory.proximities |= bit
            let isNews = (before[identity] ?? 0) & bit == 0
            let isLate = memory.hasPendingChange && memory.told & bit == 0
            if isNear(beacon.proximity), isNews || isLate {
                if let toldAt = memory.toldAt, time.since(toldAt) < coolDown {
                    memory.hasPendingChange = true
                } else {
                    memory.hasPendingChange = false
                    memory.told = bit
                    memory.toldAt = time
                    changes.append(
                        Change(
                            identity: identity, proximity: beacon.proximity, accuracy: beacon.accuracy,
                            rssi: beacon.rssi == 0 ? nil : beacon.rssi))
                }
            }
            beacons[identity] = memory
        }
        changes += leave(before, at: time, coolDown: coolDown, tellsGone: tellsGone)
        return changes
    }

    /// Notes who is not there any more.
    private mutating func leave(
        _ before: [BeaconIdentity: UInt8], at time: Timestamp, coolDown: Int64, tellsGone: Bool
    ) -> [Change] {
        var changes: [Change] = []
        for (identity, memory) in beacons where memory.proximities == 0 {
            if tellsGone, before[identity] != nil, memory.told != 0 {
                changes.append(Change(identity: identity, isGone: true))
                beacons[identity]?.told = 0
            }
            // Once it has cooled down there is nothing left to remember.
            if let toldAt = memory.toldAt, time.since(toldAt) < coolDown { continue }
            beacons[identity] = nil
        }
        // The order of a table is nobody's.
        changes.sort { $0.identity < $1.identity }
        return changes
    }

    /// Makes room: who was not in the report before either is remembered for its cool-down only.
    private mutating func forgetAbsent(_ before: [BeaconIdentity: UInt8]) {
        for (identity, memory) in beacons where memory.proximities == 0 && before[identity] == nil {
            beacons[identity] = nil
        }
    }

    /// The beacons of the newest report.
    func present(at receiver: String) -> [BeaconNotification.PresentBeacon] {
        beacons.compactMap { identity, memory in
            guard memory.proximities != 0 else { return nil }
            return BeaconNotification.PresentBeacon(
                identity: identity, proximity: memory.proximity, accuracy: memory.accuracy,
                rssi: memory.rssi == 0 ? nil : memory.rssi, receiver: receiver)
        }
    }
}
