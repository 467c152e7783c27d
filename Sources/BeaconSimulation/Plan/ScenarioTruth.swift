package import BeaconModel

/// The true distance of a beacon from a receiver at a time of a scenario.
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
    /// The whole seconds for which true distances exist. The upper bound is far longer than any real simulation.
    package var seconds: ClosedRange<Int64> { 0...Int64(min(duration, 1e9)) }

    /// Returns the true distances at a whole second after the start: from each receiver to each beacon that is on, in
    /// the order of the file.
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
