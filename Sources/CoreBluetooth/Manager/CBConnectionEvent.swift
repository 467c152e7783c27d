/// What became of a connection. Nothing here connects.
public enum CBConnectionEvent: Int, Sendable, BitwiseCopyable {
    /// It ended.
    case peerDisconnected = 0

    /// It began.
    case peerConnected = 1
}
