/// Whether a peripheral is connected.
public enum CBPeripheralState: Int, Sendable, BitwiseCopyable {
    /// It is not.
    case disconnected = 0

    /// It is being connected.
    case connecting = 1

    /// It is.
    case connected = 2

    /// The connection is being ended.
    case disconnecting = 3
}
