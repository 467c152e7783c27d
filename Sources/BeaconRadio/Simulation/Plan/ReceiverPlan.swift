/// A receiver as a scenario describes it.
struct ReceiverPlan: Hashable, Sendable {
    var name: String
    var placement: Placement

    /// What the receiver reads more than the model says, in dB: antennas and chips differ.
    var gain: Double
}
