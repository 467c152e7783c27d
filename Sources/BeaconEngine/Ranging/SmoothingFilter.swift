/// A mean that forgets: each second moves the level by the same part of the way to that second's mean.
public struct SmoothingFilter: SignalFilter {
    /// The part of the way that one second moves the level, above 0 and up to 1.
    public var gain: Float

    /// A filter of this gain.
    public init(gain: Float = 0.25) { self.gain = gain }

    public func update(_ state: inout SignalFilterState, with digest: SampleDigest) {
        guard let mean = digest.mean else { return }
        let hasLevel = state.values[1] != 0
        state.values[0] = hasLevel ? state.values[0] + gain * (Float(mean) - state.values[0]) : Float(mean)
        state.values[1] = 1
    }

    public func level(_ state: SignalFilterState) -> Double? {
        state.values[1] == 0 ? nil : Double(state.values[0])
    }
}
