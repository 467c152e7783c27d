/// Turns the readings of a beacon, which jump by many decibels while nothing moves, into one level.
public protocol SignalFilter: Sendable {
    /// Takes in the readings of one second.
    ///
    /// - Parameters:
    ///   - digest: the readings; there may be none.
    ///   - state: what the filter remembers of the beacon.
    func update(_ state: inout SignalFilterState, with digest: SampleDigest)

    /// The level in dBm, or nil where there were no readings yet.
    func level(_ state: SignalFilterState) -> Double?
}
