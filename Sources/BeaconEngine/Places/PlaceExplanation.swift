package import BeaconModel

/// The inputs of the decision about a beacon's place, for diagnosis.
package struct PlaceExplanation: Hashable, Sendable {
    /// A place as its loudest receiver hears the beacon.
    package struct Place: Hashable, Sendable {
        package var place: Int
        package var receiver: ReceiverID?
        /// The smoothed level in dBm, and how much it has risen within a quarter of a minute.
        package var level: Double
        package var rise: Double
    }

    /// The costs of a taught place.
    package struct Cost: Hashable, Sendable {
        /// The place; nil for levels unlike all taught ones.
        package var place: Int?
        /// The cost of the last second: about one where the beacon is.
        package var cost: Double
        /// What its sum of costs is above that of the likeliest place.
        package var behind: Double
        /// The lead in dB that the costs of the last second give it over the beacon's place; nil without a place.
        package var lead: Double?
    }

    /// The places that hear it, the loudest first.
    package var places: [Place]
    /// The costs of all places, the likeliest first; empty without taught places, and while no receiver hears it.
    package var costs: [Cost]
    /// The sum of the lead of another place, as a share of the sum that moves the beacon, from 0 to 1.
    package var lead: Double
    /// The lead in dB that is no evidence.
    package var slack: Double
    /// The sum of leads beyond it that moves the beacon, in dB times seconds, for one receiver a place and usual noise.
    package var neededLead: Double
    /// The seconds in which it was not heard, and those after which it is in no place.
    package var silence: Int
    package var patience: Int
}

extension Engine {
    /// Returns the inputs of the decision about a beacon's place; nil if it is not located.
    package func placeExplanation(of identity: BeaconIdentity) -> PlaceExplanation? {
        places?.explanation(of: identity)
    }
}

extension PlaceTracker {
    func explanation(of identity: BeaconIdentity) -> PlaceExplanation? {
        guard let slot = slots[identity].map(Int.init) else { return nil }
        let hearing: [Hearing] = hearingSeconds.map { $0 > 0 ? .hearing : .deaf }
        let air = Air(map, taught, hearing)
        let beacon = beacons[slot]
        var loudest: [Int: (number: Int, level: Float)] = [:]
        for (number, place) in map.receivers.enumerated() {
            let level = levels[slot * receivers.count + number]
            guard let place, level.isHeard, level.level > loudest[place]?.level ?? -.infinity else { continue }
            loudest[place] = (number, level.level)
        }
        let heard = loudest.sorted { ($1.value.level, $0.key) < ($0.value.level, $1.key) }.map { place, one in
            PlaceExplanation.Place(
                place: place, receiver: receivers[one.number].first, level: Double(one.level),
                rise: Double(levels[slot * receivers.count + one.number].rise))
        }
        return PlaceExplanation(
            places: heard, costs: costs(of: slot, hearing), lead: Double(beacon.lead), slack: Double(air.slack),
            neededLead: Double(air.neededLead),
            silence: Int(beacon.silence), patience: Int(air.patience(of: beacon).rounded(.up)))
    }

    private func costs(of slot: Int, _ hearing: [Hearing]) -> [PlaceExplanation.Cost] {
        guard !taught.isEmpty else { return [] }
        let heard = heardLevels(of: slot, hearing: hearing)
        guard heard.contains(where: \.isFinite) else { return [] }
        let costs = secondCosts(of: heard, slot)
        let current = Int(beacons[slot].reported)
        return costs.indices.map { place in
            PlaceExplanation.Cost(
                place: place < map.placeCount ? place : nil, cost: Double(costs[place]),
                behind: Double(evidence[slot * costs.count + place]),
                lead: current >= 0 ? Double(TaughtPlaces.spread * (costs[current] - costs[place])) : nil)
        }.sorted { ($0.behind, $0.cost) < ($1.behind, $1.cost) }
    }
}
