/// The decision by taught levels: a beacon is in the place whose levels are most similar to its own.
extension PlaceTracker {
    /// Decides the place of a beacon by the similarity of its levels to the taught ones.
    ///
    /// Only seconds with new readings count. If the levels are unlike all taught ones, the strongest receiver decides,
    /// and without receivers in places, the place is unknown.
    mutating func likeliestPlace(of slot: Int, isHeard: Bool, _ air: Air) -> Int16 {
        let beacon = beacons[slot]
        let heard = heardLevels(of: slot, hearing: air.hearing)
        guard heard.contains(where: \.isFinite) else {
            let isLost = beacon.holder >= 0 ? air.hearing[Int(beacon.holder)] == .deaf : !air.isAnyHearing
            return beacon.reported >= 0 && isLost ? NoPlace.unknown : beacon.reported
        }
        let costs = secondCosts(of: heard, slot)
        let row = slot * costs.count
        if isHeard { add(costs, at: row) }
        let (best, second) = likeliest(of: slot)
        guard let best, evidence[row + best] < evidence[row + map.placeCount] else {
            return standing.best == nil ? NoPlace.unknown : strongestPlace(of: slot, isHeard: isHeard, air)
        }
        if air.isAnyDark, let second, evidence[row + second] - evidence[row + best] < TaughtPlaces.clearLead {
            return NoPlace.unknown
        }
        let current = Int(beacon.reported)
        let isClear = second == nil || best == standing.best && isClearlyFirst(best, of: slot, air)
        if isArriving(slot, isClear: isClear) { return Int16(current) }
        guard current >= 0 else { return Int16(best) }
        guard let other = best == current ? second : best else { return Int16(current) }
        if isHeard { addLead(of: other, over: current, costs, heard, slot, air) }
        return best != current && beacons[slot].lead > 0.9999 ? Int16(best) : Int16(current)
    }

    /// Returns a beacon's level at each receiver above its power, or one of ``TaughtPlaces/Heard``.
    func heardLevels(of slot: Int, hearing: [Hearing]) -> [Float] {
        receivers.indices.map { number in
            guard hearing[number] != .deaf else { return TaughtPlaces.Heard.absent }
            let level = levels[slot * receivers.count + number]
            return level.isHeard ? level.level - Float(beacons[slot].measuredPower) : TaughtPlaces.Heard.silent
        }
    }

    /// Returns the cost of each place in one second, and that of levels unlike all taught ones.
    func secondCosts(of heard: [Float], _ slot: Int) -> [Float] {
        taught.costs(heard, in: map, measuredPower: Float(beacons[slot].measuredPower)) + [TaughtPlaces.unknownCost]
    }

    /// Adds a second's costs. No place is ever behind another by more than ``TaughtPlaces/switchCost``.
    private mutating func add(_ costs: [Float], at row: Int) {
        var least = evidence[row..<row + costs.count].min() ?? 0
        for (place, cost) in costs.enumerated() {
            evidence[row + place] = min(evidence[row + place], least + TaughtPlaces.switchCost) + cost
        }
        least = evidence[row..<row + costs.count].min() ?? 0
        for place in costs.indices { evidence[row + place] -= least }
    }

    /// Adds a second to the lead of another place over the current one: the same sequential test as without teaching,
    /// so that the margin and the hold time act. A difference of one in cost is a lead of 6 dB.
    private mutating func addLead(
        of other: Int, over current: Int, _ costs: [Float], _ heard: [Float], _ slot: Int, _ air: Air
    ) {
        let first = slot * receivers.count
        var (noise, count): (Float, Float) = (0, 0)
        for number in receivers.indices where heard[number].isFinite {
            noise += levels[first + number].noise
            count += 1
        }
        var rise: Float = 0
        if standing.receivers[other] >= 0, standing.receivers[current] >= 0 {
            rise =
                levels[first + standing.receivers[other]].rise - levels[first + standing.receivers[current]].rise
        }
        let lead = PlaceLead(
            lead: TaughtPlaces.spread * (costs[current] - costs[other]), rise: rise,
            // The noise of two receivers.
            noise: noise / max(count, 1) * Float(2).squareRoot())
        // As many pairs as if half of the receivers were in either place.
        let pairs = min(max(count * count / 4, 1), Float(PlaceRules.maximumWitnesses))
        let weight = seconds(of: slot) * pairs / (air.neededLead * lead.need)
        let part = lead.evidence(slack: air.slack, pairs: pairs) * weight
        beacons[slot].lead = min(max(beacons[slot].lead + part, 0), 1)
    }

    /// Returns the likeliest place of a beacon, and the next one.
    func likeliest(of slot: Int) -> (best: Int?, second: Int?) {
        let row = slot * (map.placeCount + 1)
        var (best, second): (Int?, Int?)
        for place in 0..<map.placeCount {
            let own = evidence[row + place]
            if own < best.map({ evidence[row + $0] }) ?? .infinity {
                (best, second) = (place, best)
            } else if own < second.map({ evidence[row + $0] }) ?? .infinity {
                second = place
            }
        }
        return (best, second)
    }
}
