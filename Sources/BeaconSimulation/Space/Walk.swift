/// A path over the floor plan in time: straight legs at constant speed with pauses between them.
struct Walk: Hashable, Sendable {
    /// One straight leg.
    struct Leg: Hashable, Sendable {
        /// The departure, in seconds after the start of the simulation.
        var departure: Double

        /// The arrival, in seconds after the start of the simulation.
        var arrival: Double

        var from: Point
        var to: Point

        /// The direction in which the walker looks, as a vector of length 1, or 0 until a direction is known.
        var facing: Point
    }

    /// The legs in the order of time.
    private(set) var legs: [Leg] = []

    /// The end of the last leg's pause, in seconds after the start of the simulation.
    private(set) var end: Double

    /// A Boolean value that indicates whether the walk restarts at its first position after its end.
    private(set) var isRepeated = false

    private let start: Point

    /// Creates a walk without legs that stands at `start` for `pause` seconds.
    init(start: Point, pause: Double = 0) {
        self.start = start
        end = pause
    }

    /// The end of the last leg.
    var destination: Point { legs.last?.to ?? start }

    /// Adds a leg that takes `seconds`, followed by a pause.
    mutating func go(to point: Point, taking seconds: Double, pause: Double = 0) {
        let way = point - destination
        let length = way.length
        // A waiting person looks in the direction of the last leg.
        let facing = length > 0 ? way * (1 / length) : legs.last?.facing ?? .zero
        legs.append(Leg(departure: end, arrival: end + seconds, from: destination, to: point, facing: facing))
        end += seconds + pause
    }

    /// Adds a leg at `speed` meters per second, followed by a pause.
    mutating func go(to point: Point, speed: Double, pause: Double = 0) {
        go(to: point, taking: (point - destination).length / speed, pause: pause)
    }

    /// Adds a last leg back to the first position at `speed` meters per second, and lets the walk repeat.
    mutating func repeatForever(speed: Double) {
        go(to: start, speed: speed)
        isRepeated = true
    }

    /// Returns the walker's position and direction.
    ///
    /// - Parameter time: seconds after the start of the simulation.
    func position(at time: Double) -> RadioPosition {
        let time = isRepeated && end > 0 ? time.truncatingRemainder(dividingBy: end) : time
        // Find the last leg that has begun.
        var low = 0
        var high = legs.count
        while low < high {
            let middle = (low + high) / 2
            if legs[middle].departure <= time { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return RadioPosition(point: start, facing: legs.first?.facing ?? .zero) }
        let leg = legs[low - 1]
        guard time < leg.arrival else { return RadioPosition(point: leg.to, facing: leg.facing) }
        let part = (time - leg.departure) / (leg.arrival - leg.departure)
        return RadioPosition(point: leg.from + (leg.to - leg.from) * part, facing: leg.facing)
    }
}
