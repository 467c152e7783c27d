/// What a radio can do at the moment.
@frozen
public enum RadioState: UInt8, Hashable, Sendable, CaseIterable {
    /// Not known yet.
    case unknown
    /// It was lost and is being brought back.
    case resetting
    /// There is none that could be used.
    case unsupported
    /// There is one that this process may not use.
    case unauthorized
    /// It is switched off.
    case poweredOff
    /// It works.
    case poweredOn
}
