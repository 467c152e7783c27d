import BeaconModel

// Reports are ordered by distance, which is unrelated to the order in memory. Therefore tracks are prefetched.

extension Engine {
    /// The number of beacons by which tracks are prefetched: as many memory accesses as a processor has in flight at
    /// once.
    private static var readAheadCount: Int { 16 }

    /// Returns the beacons of a report in order: nearest first, unknown last, then by identity and address, so that the
    /// order is deterministic.
    func beacons(of list: consuming [RankedBeacon]) -> [RangedBeacon] {
        list.sortByRank()
        var beacons: [RangedBeacon] = []
        beacons.reserveCapacity(list.count)
        var timesAhead: Int64 = 0
        var (start, end) = (0, 0)
        for position in list.indices {
            if position + Self.readAheadCount < list.count {
                let number = Int(list[position + Self.readAheadCount].number)
                timesAhead |= tracks[number].pointee.lastHeard | Int64(tracks.level(number).pointee.calibration)
            }
            if position == end {
                (start, end) = (end, endOfRank(in: list, from: end))
                // Few beacons have the same rank, except for unknown distances. Pairs are the most frequent case, and
                // need no sorting.
                if end - start == 2 {
                    if isBefore(list[start + 1], list[start]) { list.swapAt(start, start + 1) }
                } else if end - start > 2 {
                    for beacon in list[start..<end] { timesAhead |= tracks[Int(beacon.number)].pointee.lastHeard }
                    list[start..<end].sort { isBefore($0, $1) }
                }
            }
            beacons.append(rangedBeacon(list[position]))
        }
        // The compiler removes a read whose value is not used. No time is negative.
        if timesAhead < 0 { beacons.reserveCapacity(beacons.count) }
        return beacons
    }

    /// Returns the end of the beacons with the same rank, in a list sorted by rank.
    @inline(__always)
    private func endOfRank(in list: [RankedBeacon], from start: Int) -> Int {
        let rank = list[start].rank
        var end = start + 1
        while end < list.count, list[end].rank == rank { end += 1 }
        return end
    }

    /// Returns a beacon in the form of a report.
    @inline(__always)
    private func rangedBeacon(_ beacon: RankedBeacon) -> RangedBeacon {
        let track = tracks[Int(beacon.number)]
        var ranged = RangedBeacon(
            address: track.pointee.key.deviceAddress, identity: track.pointee.key.identity,
            proximity: beacon.proximity, accuracy: beacon.accuracy, rssi: Int(beacon.rssi),
            lastHeard: Timestamp(nanoseconds: track.pointee.lastHeard),
            measuredPower: track.pointee.power.byte, advertisingInterval: track.pointee.interval.usualGap)
        (ranged.isCalibrated, ranged.isUndecided) = (beacon.isCalibrated, beacon.isUndecided)
        if beacon.accuracy >= 0 {
            ranged.accuracyRange = DistanceUncertainty.range(
                of: beacon.accuracy, isPowerKnown: !ranged.isUncalibrated)
        }
        return ranged
    }

    /// Returns true if a beacon comes before another of the same rank.
    private func isBefore(_ left: RankedBeacon, _ right: RankedBeacon) -> Bool {
        if left.accuracy != right.accuracy { return left.accuracy < right.accuracy }
        let (left, right) = (tracks[Int(left.number)].pointee.key, tracks[Int(right.number)].pointee.key)
        if left.identity != right.identity { return left.identity < right.identity }
        return left.deviceAddress.bits < right.deviceAddress.bits
    }
}
