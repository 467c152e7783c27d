/// How strength falls on the way from one place to another, chance aside.
struct Propagation: Sendable {
    private let exponent: Double
    private let walls: [Wall]

    /// Nearer than this counts as this far, in metres: log-distance has no meaning at an antenna's length.
    static let nearest = 0.1

    init(exponent: Double, walls: [Wall]) {
        self.exponent = exponent
        self.walls = walls
    }

    /// What is left at `to` of a strength measured one metre from `from`, in dB; above 0 nearer than a metre.
    ///
    /// Log-distance path loss and the sum of the walls between (the multi-wall model of COST 231, without floors).
    func gain(from: Point, to: Point) -> Double {
        let distance = max((to - from).length, Self.nearest)
        var gain = -exponent * Mathematics.decibels(distance)
        for wall in walls where wall.isCrossed(from: from, to: to) { gain -= wall.loss }
        return gain
    }
}
