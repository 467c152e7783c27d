/// How quickly a connected central gets answers. Nothing here connects.
public enum CBPeripheralManagerConnectionLatency: Int, Sendable, BitwiseCopyable {
    /// Quickly, at the cost of power.
    case low = 0

    /// A balance of both.
    case medium = 1

    /// Slowly, saving power.
    case high = 2
}
