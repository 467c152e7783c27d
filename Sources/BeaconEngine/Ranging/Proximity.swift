/// How near a beacon is.
@frozen
public enum Proximity: UInt8, Hashable, Sendable, BitwiseCopyable, CaseIterable {
    /// It cannot be told.
    case unknown = 0
    /// Closer than half a metre.
    case immediate = 1
    /// Within three metres.
    case near = 2
    /// Beyond.
    case far = 3
}

extension Proximity: CustomStringConvertible {
    /// The name in lower case, as the project's JSON writes it.
    public var description: String {
        switch self {
        case .unknown: "unknown"
        case .immediate: "immediate"
        case .near: "near"
        case .far: "far"
        }
    }
}
