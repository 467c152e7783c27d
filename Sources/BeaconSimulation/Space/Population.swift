import BeaconSupport

/// The people who walk in a simulation: the people of the scenario, then the owners of the crowds' phones.
struct Population: Sendable {
    private(set) var people: [Person]

    init(people: [Person]) { self.people = people }

    /// The number of stops on the round of a crowd's member.
    private static let stops = 8

    /// Adds a member of a crowd, who walks from stop to stop in its area (the random waypoint model of Johnson and
    /// Maltz, 1996).
    ///
    /// - Returns: the placement of a phone that the member carries.
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

    /// Changes a person's walk.
    mutating func setWalk(_ walk: Walk, of person: Int) {
        guard people.indices.contains(person) else { return }
        people[person].walk = walk
    }

    /// Returns the position of a placement.
    ///
    /// - Parameter time: nanoseconds after the start of the simulation.
    func position(of placement: Placement, at time: Int64) -> RadioPosition {
        switch placement {
        case .fixed(let point): RadioPosition(point: point)
        case .carried(let person): people[person].position(at: Double(time) / 1_000_000_000)
        }
    }
}

/// A person who walks about and may carry beacons and receivers.
struct Person: Hashable, Sendable {
    var name: String
    var walk: Walk

    /// The loss by the body straight behind it, in dB.
    var bodyLoss: Double

    /// Returns the person's position and direction.
    ///
    /// - Parameter time: seconds after the start of the simulation.
    func position(at time: Double) -> RadioPosition {
        var position = walk.position(at: time)
        position.bodyLoss = bodyLoss
        return position
    }
}

/// The placement of a radio.
enum Placement: Hashable, Sendable {
    /// A fixed position.
    case fixed(Point)

    /// Carried by the person at this index of the scenario's list.
    case carried(Int)
}

/// The position of a radio at a time, and its carrier's body, if it has one.
struct RadioPosition: Hashable, Sendable {
    var point: Point

    /// The direction in which the carrier looks, as a vector of length 1; of length 0 without a carrier.
    var facing = Point.zero

    /// The loss by the carrier's body straight behind it, in dB.
    var bodyLoss = 0.0

    /// Returns the loss by the carrier's body toward `other`, in dB.
    ///
    /// It is zero ahead and ``bodyLoss`` straight behind. In between it follows the cosine of the angle, because waves
    /// bend around a body.
    func bodyLoss(towards other: Point) -> Double {
        guard bodyLoss > 0 else { return 0 }
        let way = other - point
        let distance = way.length
        guard distance > 0 else { return 0 }
        return bodyLoss * (1 - facing.dot(way) / distance) / 2
    }
}
