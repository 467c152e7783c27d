/// Somebody who walks about and may carry beacons and receivers.
struct Person: Hashable, Sendable {
    var name: String
    var walk: Walk

    /// What the body costs straight behind it, in dB.
    var bodyLoss: Double

    /// Where the person is, and where they look.
    ///
    /// - Parameter time: seconds after the start of the simulation.
    func whereabouts(at time: Double) -> Whereabouts {
        var whereabouts = walk.whereabouts(at: time)
        whereabouts.bodyLoss = bodyLoss
        return whereabouts
    }
}
