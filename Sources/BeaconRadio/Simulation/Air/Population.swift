/// Everybody who walks in a simulation: the people of the scenario, and behind them the owners of the crowds' phones.
struct Population: Sendable {
    private(set) var people: [Person]

    init(people: [Person]) { self.people = people }

    /// How many places a member of a crowd walks between before going round again.
    private static let stops = 8

    /// Adds somebody of a crowd, who walks from place to place in its area (the random waypoint model of Johnson and
    /// Maltz, 1996).
    ///
    /// - Returns: how to place what they carry.
    mutating func add(of crowd: CrowdPlan, random: SplitMix64) -> Placement {
        var random = random
        func place() -> Point {
            let size = crowd.oppositeCorner - crowd.corner
            return crowd.corner + Point(x: size.x * random.unit(), y: size.y * random.unit())
        }
        var walk = Walk(start: place(), pause: 20 * random.unit())
        if crowd.speed > 0 {
            for _ in 1..<Self.stops { walk.go(to: place(), speed: crowd.speed, pause: 20 * random.unit()) }
            walk.repeatForever(speed: crowd.speed)
        }
        people.append(Person(name: "", walk: walk, bodyLoss: 0))
        return .carried(people.count - 1)
    }

    /// Where something is.
    ///
    /// - Parameter time: nanoseconds after the start of the simulation.
    func whereabouts(of placement: Placement, at time: Int64) -> Whereabouts {
        switch placement {
        case .fixed(let point): Whereabouts(point: point)
        case .carried(let person): people[person].whereabouts(at: Double(time) / 1_000_000_000)
        }
    }
}
