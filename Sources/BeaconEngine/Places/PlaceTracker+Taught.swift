import BeaconModel

/// The decision by taught levels: a beacon is in the place whose levels are most similar to its own.
extension PlaceTracker {
    /// Decides the place of a beacon by the similarity of its levels to the taught ones.
    ///
    /// Each second adds to the accumulated cost of each place. No place is ever behind another by more than
    /// ``TaughtPlaces/switchCost``, so that a beacon can move. That is the cheapest path through the places up to now,
    /// with that cost for each move.
    mutating func likeliestPlace(of slot: Int, _ air: Air) -> Int16 {
        let beacon = beacons[slot]
        let power = Float(beacon.measuredPower)
        let first = slot * receivers.count
        let heard = receivers.indices.map { number -> Float in
            guard air.hearing[number] != .deaf else { return TaughtPlaces.Heard.absent }
            let level = levels[first + number]
            return level.isHeard ? level.level - power : TaughtPlaces.Heard.silent
        }
        guard heard.contains(where: \.isFinite) else {
            let isLost = beacon.holder >= 0 ? air.hearing[Int(beacon.holder)] == .deaf : !air.isAnyHearing
            return beacon.reported >= 0 && isLost ? NoPlace.unknown : beacon.reported
        }
        let costs = taught.costs(heard, places: map.receivers, measuredPower: power) + [TaughtPlaces.unknownCost]
        let row = slot * costs.count
        var least = evidence[row..<row + costs.count].min() ?? 0
        for (place, cost) in costs.enumerated() {
            evidence[row + place] = min(evidence[row + place], least + TaughtPlaces.switchCost) + cost
        }
        least = evidence[row..<row + costs.count].min() ?? 0
        for place in costs.indices { evidence[row + place] -= least }
        let (best, second) = likeliest(of: slot)
        guard let best, evidence[row + best] < evidence[row + map.placeCount] else { return NoPlace.unknown }
        if air.isAnyDark, let second, evidence[row + second] - evidence[row + best] < TaughtPlaces.clearLead {
            return NoPlace.unknown
        }
        return Int16(best)
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
