package import BeaconModel

/// The true distance of a beacon from a receiver at a moment of a scenario.
package struct TrueDistance: Hashable, Sendable {
    /// The time of the simulation that plays the scenario.
    package let time: Timestamp
    /// The receiver's name.
    package let receiver: String
    /// The beacon, and the distance in metres.
    package let identity: BeaconIdentity
    package let distance: Double
}

extension Scenario {
    /// The whole seconds at which a scenario tells its truth; the longest simulation that anybody plays is far shorter.
    package var seconds: ClosedRange<Int64> { 0...Int64(min(duration, 1e9)) }

    /// Returns what is true at a whole second after the start: each receiver's distance from each beacon that is on,
    /// receivers and beacons in the order of the file.
    package func distances(at second: Int64) -> [TrueDistance] {
        let population = Population(people: people)
        let moment = second * Timestamp.nanosecondsPerSecond
        let beacons = beacons.filter { beacon in beacon.onTimes.spans.contains { $0.contains(moment) } }.map {
            (identity: $0.identity, point: population.position(of: $0.placement, at: moment).point)
        }
        return receivers.flatMap { receiver in
            let point = population.position(of: receiver.placement, at: moment).point
            return beacons.map { beacon in
                TrueDistance(
                    time: ScenarioSource.start.advanced(by: moment), receiver: receiver.name,
                    identity: beacon.identity, distance: (beacon.point - point).length)
            }
        }
    }
}
