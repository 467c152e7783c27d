import BeaconModel

/// How a sender comes by its addresses.
enum Addressing: Hashable, Sendable {
    /// The scenario gives it.
    case given(DeviceAddress)

    /// A random static address, drawn once.
    case drawn

    /// A private address, drawn anew each time this many nanoseconds have passed since the sender was first on.
    case rotating(Int64)
}
