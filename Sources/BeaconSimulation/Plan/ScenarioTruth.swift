package import BeaconModel

/// The true distance of a beacon from a receiver at a time of a scenario.
package struct TrueDistance: Hashable, Sendable {
    /// The time of the simulation that plays the scenario.
    package let time: Timestamp
    /// The receiver's name.
    package let receiver: String
    /// The beacon, and the distance in meters.
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
        let time = second * Timestamp.nanosecondsPerSecond
        let beacons = beacons.filter { beacon in beacon.onTimes.spans.contains { $0.contains(time) } }.map {
            (identity: $0.identity, point: population.position(of: $0.placement, at: time).point)
        }
        return receivers.flatMap { receiver in
            let point = population.position(of: receiver.placement, at: time).point
            return beacons.map { beacon in
                TrueDistance(
                    time: ScenarioSource.start.advanced(by: time), receiver: receiver.name,
                    identity: beacon.identity, distance: (beacon.point - point).length)
            }
        }
    }
}
