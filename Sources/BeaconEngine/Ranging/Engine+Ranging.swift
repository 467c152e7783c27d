import BeaconModel

extension Engine {
    /// The silence after which a beacon's proximity is unknown, unless ``unknownGaps`` of its gaps are longer. Apple's
    /// article on iOS devices as beacons gives 2 s.
    private static var unknownAfter: Int64 { 2 * Timestamp.nanosecondsPerSecond }
    private static var unknownGaps: Int64 { 3 }

    /// The silence after which a beacon is no longer listed, unless ``goneGaps`` of its gaps are longer. Apple's
    /// article gives 10 s.
    package static var goneAfter: Int64 { 10 * Timestamp.nanosecondsPerSecond }
    private static var goneGaps: Int64 { 5 }

    /// The time for which reports continue in silence with an empty list, before seconds are skipped.
    private static var idleReports: Int64 { 10 * Timestamp.nanosecondsPerSecond }

    // MARK: - The list

    /// Lists a beacon in the next report.
    @inline(__always)
    mutating func list(_ track: UnsafeMutablePointer<Track>, _ number: Int, _ sighting: Sighting) {
        if let dBm = sighting.rssi.dBm { tracks.digest(number).pointee.add(dBm) }
        if !track.pointee.isListed { addToList(number) }
    }

    @inline(never)
    private mutating func addToList(_ number: Int) {
        tracks[number].pointee.isListed = true
        let level = tracks.level(number)
        level.pointee.listPosition = UInt32(listed.count)
        listed.append(UInt32(number))
        level.pointee.calibration = calibrations.place(of: tracks[number].pointee.key.identity)
    }

    /// Removes a beacon from the list, and forgets its readings, its level and its proximity. The ranging of a beacon
    /// ends only here, so that it always begins without history.
    mutating func unlist(_ number: Int) {
        guard tracks[number].pointee.isListed else { return }
        let position = Int(tracks.level(number).pointee.listPosition)
        tracks[number].pointee.isListed = false
        tracks.digest(number).pointee = SampleDigest()
        tracks.level(number).pointee = TrackLevel()
        let last = listed.removeLast()
        if position < listed.count {
            listed[position] = last
            tracks.level(Int(last)).pointee.listPosition = UInt32(position)
        }
    }

    /// Removes beacons from the list that no request matches after the one for `constraint` has ended.
    mutating func unlistUnranged(of constraint: BeaconConstraint?) {
        var position = 0
        while position < listed.count {
            let number = Int(listed[position])
            if constraint?.matches(tracks[number].pointee.key.identity) ?? true, !isRanged(number) {
                unlist(number)
            } else {
                position += 1
            }
        }
    }

    private mutating func isRanged(_ number: Int) -> Bool {
        guard rangings.count > 0 else { return false }
        if tracks[number].pointee.matchVersion != index.version { refreshMatches(number) }
        let matches = tracks[number].pointee.matches
        return !matches.isNothing && matches.region == nil && index.sets[matches.set].rangingCount > 0
    }

    // MARK: - Reports

    /// Returns the next tick if the ticks before it can be skipped.
    ///
    /// If nothing was heard or listed for long, a distant or wrong time is reached in one step. The return of a deaf
    /// receiver on the way is not skipped.
    ///
    /// - Parameter limit: the latest time that is due.
    func tickAfterIdleness(limit: Int64) -> Int64? {
        guard nextTick < limit else { return nil }
        let quiet = max(now, lastListedTick)
        guard nextTick > quiet &+ Self.idleReports else { return nil }
        var target = limit
        for place in 0..<receivers.count {
            let end = receivers[place].counted.to
            if nextTick < end {
                target = min(target, end)
            } else if nextTick <= max(quiet, end) &+ Self.idleReports {
                return nil
            }
        }
        return max(nextTick, Self.wholeSecond(atOrAfter: target))
    }

    /// Creates the reports of one second. A deaf receiver has no report, and its beacons do not age.
    mutating func report(at tick: Int64) {
        let receiverCount = receivers.count
        // A list for each request and receiver. If there is only one, it has room for all beacons.
        var lists: [[RankedBeacon]] = []
        holdDistances(at: tick)
        if !listed.isEmpty {
            lists = Array(repeating: [], count: rangings.extent * receiverCount)
            if lists.count == 1 { lists[0].reserveCapacity(listed.count) }
            fill(&lists, at: tick)
        }
        if offsets.due != nil { fitOffsets(at: tick) }
        if places != nil { decidePlaces(at: tick) }
        for place in reportOrder where receivers[place].isRanging && !receivers[place].isDeaf(at: tick) {
            for number in 0..<rangings.extent {
                guard let id = rangings.id(at: number), isReported(number) else { continue }
                events.append(
                    .ranged(
                        RangingReport(
                            ranging: RangingID(id), time: Timestamp(nanoseconds: tick), receiver: receivers[place].id,
                            beacons: lists.isEmpty ? [] : beacons(of: lists[number * receiverCount + place]))))
            }
        }
    }

    /// Returns true if the request with this number has reports, and does not serve locating only.
    private func isReported(_ number: Int) -> Bool {
        rangings.id(at: number).flatMap { rangings[$0] }.map { $0.purpose == .reports } ?? false
    }

    /// Adds the beacons of a second to the lists of the requests that they match.
    private mutating func fill(_ lists: inout [[RankedBeacon]], at tick: Int64) {
        let receiverCount = receivers.count
        let areReported = (0..<rangings.extent).map { isReported($0) }
        let isRanging = areReported.contains(true)
        let (isTeaching, isLocating, isComparing) = (
            !learned.teachers.isEmpty, places != nil, offsets.learner != nil
        )
        let areDeaf = (0..<receiverCount).map { receivers[$0].isDeaf(at: tick) }
        var position = 0
        while position < listed.count {
            let number = Int(listed[position])
            let place = receivers.place(of: tracks[number].pointee.key.receiver)
            if let place, areDeaf[place] {
                position += 1
                continue
            }
            guard let place, let readings = takeReadings(of: number, at: tick) else {
                unlist(number)
                continue
            }
            position += 1
            lastListedTick = tick
            if tracks[number].pointee.matchVersion != index.version { refreshMatches(number) }
            let matches = tracks[number].pointee.matches
            if receivers.isNearFloor(readings.weakest, of: place), let mean = readings.mean {
                receivers.learnFloor(of: place, from: Float(mean))
            }
            if tracks[number].pointee.power.isInvalid { reportUncalibrated(number, at: tick) }
            if isTeaching {
                let track = tracks[number].pointee
                let power = calibrations.kindPower(of: track.key.identity, claim: track.power)
                learned.learn(readings, of: track.key, measuredPower: power, at: tick)
            }
            if isComparing { learnOffset(number, readings, by: place, at: tick) }
            if isLocating { locate(number, readings, at: tick) }
            if isRanging, !matches.isNothing, matches.region == nil {
                var beacon = assess(number, readings, by: place, at: tick)
                let identity = tracks[number].pointee.key.identity
                if !heldDistances.isEmpty, isHeld(identity, beacon.accuracy, by: place, at: tick) { beacon.withhold() }
                let set = index.sets[matches.set]
                for ranging in set.firstRanging..<set.firstRanging + set.rangingCount {
                    let number = Int(index.rangings[Int(ranging)])
                    if areReported[number] { lists[number * receiverCount + place].append(beacon) }
                }
            }
        }
    }

    /// Returns and clears the readings of a second; nil if the beacon must no longer be listed.
    @inline(__always)
    private mutating func takeReadings(of number: Int, at tick: Int64) -> SampleDigest? {
        let track = tracks[number]
        let silence = tick - track.pointee.lastHeard
        guard silence < max(Self.goneAfter, Self.goneGaps * track.pointee.interval.usualGap) else { return nil }
        let digest = tracks.digest(number).pointee
        tracks.digest(number).pointee = SampleDigest()
        return digest
    }

    /// Returns a beacon as an entry of a report.
    @inline(__always)
    private mutating func assess(
        _ number: Int, _ readings: SampleDigest, by receiver: Int, at tick: Int64
    ) -> RankedBeacon {
        let track = tracks[number]
        let silence = tick - track.pointee.lastHeard
        let state = tracks.level(number)
        strategy.filter.update(&state.pointee.filter, with: readings)
        if let mean = readings.roundedMean {
            state.pointee.reportedRSSI = mean
            state.pointee.unreadSeconds = 0
        } else if silence < Timestamp.nanosecondsPerSecond {
            // Adverts without a reading prove presence, but not distance.
            let gap = track.pointee.interval.usualGap / Timestamp.nanosecondsPerSecond
            state.pointee.unreadSeconds += UInt8(max(1, gap))
        }
        var beacon = RankedBeacon(number: UInt32(number))
        let unread = Int64(state.pointee.unreadSeconds) * Timestamp.nanosecondsPerSecond
        if max(silence, unread) < unknownAfter(track.pointee.interval), let level = state.pointee.filter.level {
            beacon.rssi = state.pointee.reportedRSSI
            beacon.isCalibrated = calibrations.isMeasured(state.pointee.calibration)
            beacon.accuracy = distance(of: number, level: level, at: receiver)
            beacon.proximity = strategy.classifier.classify(
                beacon.accuracy, previous: state.pointee.proximity)
            state.pointee.proximity = beacon.proximity
        }
        return beacon
    }

    /// Returns the distance in meters of a listed beacon with a level at the receiver with this index.
    @inline(__always)
    func distance(of number: Int, level reading: Double, at receiver: Int) -> Double {
        let level = receivers.level(of: reading, by: receiver)
        let calibration = tracks.level(number).pointee.calibration
        let power = calibrations.power(calibration, claim: tracks[number].pointee.power)
        return strategy.distance.distance(
            level: calibrations.usualLevel(calibration, level, power: power), measuredPower: power)
    }

    /// Returns the silence after which the distance of a beacon is unknown, in nanoseconds.
    @inline(__always)
    func unknownAfter(_ interval: IntervalLearner) -> Int64 {
        max(Self.unknownAfter, Self.unknownGaps * interval.usualGap)
    }

    /// Reports an uncalibrated beacon once.
    ///
    /// It waits for a second advert, because the first advert of an alternating tag may have a counter instead of the
    /// power.
    @inline(never)
    private mutating func reportUncalibrated(_ number: Int, at tick: Int64) {
        let track = tracks[number].pointee
        let identity = track.key.identity
        guard track.interval.usualGap > 0, let fault = track.power.fault(powerDisputes[number]),
            !calibrations.isMeasured(identity),
            case let report = uncalibrated.note(identity, isNamed: index.names(identity), at: tick), report.isNew
        else { return }
        events.append(
            .uncalibrated(
                UncalibratedBeacon(
                    identity: identity, receiver: track.key.receiver, fault: fault,
                    isLast: report.isLast)))
    }
}
