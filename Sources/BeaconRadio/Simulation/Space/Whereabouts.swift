/// Where a radio is at a moment, and the body beside it if somebody carries it.
struct Whereabouts: Hashable, Sendable {
    var point: Point

    /// Where the carrier looks, as a way of length 1; of length 0 where nobody carries the radio.
    var facing = Point.zero

    /// What the carrier's body costs straight behind it, in dB.
    var bodyLoss = 0.0

    /// What the carrier's body costs on the way to `other`, in dB: nothing ahead, all of ``bodyLoss`` straight behind,
    /// and in between with the cosine of the angle, since waves bend around a body.
    func bodyLoss(towards other: Point) -> Double {
        guard bodyLoss > 0 else { return 0 }
        let way = other - point
        let distance = way.length
        guard distance > 0 else { return 0 }
        return bodyLoss * (1 - facing.dot(way) / distance) / 2
    }
}
