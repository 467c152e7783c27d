import BeaconModel

/// The proximities of the beacons in one region as one receiver ranges them: those of its newest report, and those that
/// were reported to the backend.
struct ProximityHistory {
    /// The history of one identity. Two devices may share it, so that it can have several proximities at once.
    struct Entry {
        /// The identity's proximities in the newest report, by bits; none where the newest report lacks it.
        var proximities: UInt8 = 0
        /// The proximities that were reported last, by bits.
        var reported: UInt8 = 0
        /// The moment of that report.
        var reportedAt: Timestamp?
        /// True while a change waits for the end of the cool-down.
        var hasPendingChange = false
        /// The nearest device of the identity in the newest report.
        var proximity = Proximity.unknown
        var accuracy = -1.0
        var rssi = 0
    }

    /// A change to report.
    struct Change {
        var identity: BeaconIdentity
        var isGone = false
        var proximity = Proximity.unknown
        var accuracy = -1.0
        var rssi: Int?
    }

    /// The moment of the newest report.
    private(set) var time = Timestamp.zero
    private(set) var beacons: [BeaconIdentity: Entry] = [:]

    /// Compares a report with the history and adds it.
    ///
    /// - Parameters:
    ///   - report: the beacons of the newest second, nearest first.
    ///   - time: the moment of the report.
    ///   - coolDown: the least time between two reports of one beacon, in nanoseconds.
    ///   - maximum: the number of beacons to remember.
    ///   - reportsGone: true where beacons that are no longer heard are reported.
    ///   - isNear: returns true for a proximity to report.
    ///   - ignored: counts beacons beyond the maximum.
    /// - Returns: the changes to report.
    mutating func update(
        with report: ArraySlice<RangedBeacon>, at time: Timestamp, coolDown: Int64, maximum: Int, reportsGone: Bool,
        isNear: (Proximity) -> Bool, ignored: inout Int
    ) -> [Change] {
        self.time = time
        var before: [BeaconIdentity: UInt8] = [:]
        before.reserveCapacity(beacons.count)
        for (identity, entry) in beacons where entry.proximities != 0 {
            before[identity] = entry.proximities
            beacons[identity]?.proximities = 0
        }
        var changes: [Change] = []
        for beacon in report {
            let identity = beacon.identity
            if beacons[identity] == nil, beacons.count >= maximum {
                removeAbsent(before)
                guard beacons.count < maximum else {
                    ignored += 1
                    continue
                }
            }
            let bit = UInt8(1) << beacon.proximity.rawValue
            var entry = beacons[identity] ?? Entry()
            if entry.proximities == 0 {
                entry.proximity = beacon.proximity
                entry.accuracy = beacon.accuracy
                entry.rssi = beacon.rssi
            }
            entry.proximities |= bit
            let isNew = (before[identity] ?? 0) & bit == 0
            let isLate = entry.hasPendingChange && entry.reported & bit == 0
            if isNear(beacon.proximity), isNew || isLate {
                if let reportedAt = entry.reportedAt, time.since(reportedAt) < coolDown {
                    entry.hasPendingChange = true
                } else {
                    entry.hasPendingChange = false
                    entry.reported = bit
                    entry.reportedAt = time
                    changes.append(
                        Change(
                            identity: identity, proximity: beacon.proximity, accuracy: beacon.accuracy,
                            rssi: beacon.rssi == 0 ? nil : beacon.rssi))
                }
            }
            beacons[identity] = entry
        }
        changes += removeGone(before, at: time, coolDown: coolDown, reportsGone: reportsGone)
        return changes
    }

    /// Removes beacons that the newest report lacks, each after its cool-down.
    ///
    /// - Returns: those that have just gone, where they are to be reported.
    private mutating func removeGone(
        _ before: [BeaconIdentity: UInt8], at time: Timestamp, coolDown: Int64, reportsGone: Bool
    ) -> [Change] {
        var changes: [Change] = []
        for (identity, entry) in beacons where entry.proximities == 0 {
            if reportsGone, before[identity] != nil, entry.reported != 0 {
                changes.append(Change(identity: identity, isGone: true))
                beacons[identity]?.reported = 0
            }
            // Nothing has to be remembered after the cool-down.
            if let reportedAt = entry.reportedAt, time.since(reportedAt) < coolDown { continue }
            beacons[identity] = nil
        }
        // Dictionary order is unspecified.
        changes.sort { $0.identity < $1.identity }
        return changes
    }

    /// Makes room: removes beacons that were not in the report before either, which were remembered for their cool-down
    /// alone.
    private mutating func removeAbsent(_ before: [BeaconIdentity: UInt8]) {
        for (identity, entry) in beacons where entry.proximities == 0 && before[identity] == nil {
            beacons[identity] = nil
        }
    }

    /// Returns the beacons of the newest report.
    func present(at receiver: String) -> [BeaconNotification.PresentBeacon] {
        beacons.compactMap { identity, entry in
            guard entry.proximities != 0 else { return nil }
            return BeaconNotification.PresentBeacon(
                identity: identity, proximity: entry.proximity, accuracy: entry.accuracy,
                rssi: entry.rssi == 0 ? nil : entry.rssi, receiver: receiver)
        }
    }
}
