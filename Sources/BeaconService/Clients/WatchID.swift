/// The center's name for something that a client watches. It is never given out twice.
public struct WatchID: Hashable, Sendable {
    let number: UInt64
}
