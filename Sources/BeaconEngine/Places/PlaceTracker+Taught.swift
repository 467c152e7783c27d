import BeaconModel

/// The decision by what was taught: a beacon is where its levels are most alike to those of the place.
extension PlaceTracker {
    /// Decides where a beacon is, by how alike its levels are to those that were taught.
    ///
    /// Each second adds to what each place has cost so far; but none is ever behind another by more than
    /// ``TaughtPlaces/switchCost``, so that a beacon can change its place. That is the cheapest way through the places
    /// up to now, where each change costs that much.
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
