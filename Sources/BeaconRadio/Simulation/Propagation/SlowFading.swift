/// What shelves, doors and bodies do to a link: a Gauss-Markov process, driven by time and by movement.
struct SlowFading: Sendable {
    private var value = 0.0
    private var time: Int64?
    private var sender = Point.zero
    private var receiver = Point.zero

    /// The gain in dB at a moment that is not before the one asked for last.
    ///
    /// - Parameters:
    ///   - time: nanoseconds after the start of the simulation.
    ///   - sender: where the sender is at that moment.
    ///   - receiver: where the receiver is at that moment.
    mutating func gain(
        at time: Int64, sender: Point, receiver: Point, in environment: Environment, random: inout SplitMix64
    ) -> Double {
        let deviation = environment.shadowing
        guard deviation > 0 else { return 0 }
        if let last = self.time {
            var forgetting = Double(time &- last) / 1_000_000_000 / environment.shadowingTime
            if sender != self.sender || receiver != self.receiver {
                let moved = (sender - self.sender).length + (receiver - self.receiver).length
                forgetting += moved / environment.shadowingDistance
            }
            let memory = Mathematics.exponential(-forgetting)
            // The share of news is such that the deviation stays what it is.
            let news = deviation * (1 - memory * memory).squareRoot()
            value = memory * value + news * random.normal()
        } else {
            value = deviation * random.normal()
        }
        self.time = time
        self.sender = sender
        self.receiver = receiver
        return value
    }
}
