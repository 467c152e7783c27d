/// The center's name for a client. It is never given out twice.
public struct ClientID: Hashable, Sendable {
    let number: UInt64
}
