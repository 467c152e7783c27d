/// All that lies between senders and receivers, the same for every link.
struct Medium: Sendable {
    let environment: Environment
    let propagation: Propagation
    let fastFading: FastFading?

    /// What chance can add to a strength at most, in dB. Slow fading can go beyond its share of this, once in some
    /// thousand million adverts.
    let headroom: Double

    init(environment: Environment, walls: [Wall]) {
        self.environment = environment
        propagation = Propagation(exponent: environment.pathLossExponent, walls: walls)
        fastFading = environment.ricianK.map(FastFading.init(ricianK:))
        headroom = SplitMix64.normalBound * environment.shadowing + (fastFading?.bound ?? 0)
    }
}
