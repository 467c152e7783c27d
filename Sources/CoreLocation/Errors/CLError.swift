/// What went wrong in Core Location.
///
/// It has the shape of an error that Swift imports from Apple's SDK: `CLError(.denied)`, `catch CLError.denied`,
/// `(error as? CLError)?.code` and `(error as NSError).code` all work. Only on Apple's systems does a bare
/// `NSError(domain: kCLErrorDomain, code: 1) as? CLError` succeed; on Linux it is nil, so every error that these modules
/// hand out is a `CLError`.
public struct CLError: _BridgedStoredNSError, Sendable {
    /// The error as Foundation stores it.
    public let _nsError: NSError

    /// The error that Foundation stores.
    ///
    /// - Precondition: its domain is ``kCLErrorDomain``.
    public init(_nsError: NSError) {
        precondition(_nsError.domain == kCLErrorDomain, "a CLError has the domain \(kCLErrorDomain)")
        self._nsError = _nsError
    }

    /// ``kCLErrorDomain``
    public static var _nsErrorDomain: String { kCLErrorDomain }

    /// ``kCLErrorDomain``
    public static var errorDomain: String { kCLErrorDomain }

    /// Feeds the code. Foundation's own implementation traps outside Apple's systems (Swift 6.3).
    public func hash(into hasher: inout Hasher) {
        hasher.combine(_nsError.code)
    }
}

extension CLError {
    /// A region that the system can watch sooner than the one asked for. Nothing here offers any.
    public var alternateRegion: CLRegion? { userInfo[kCLErrorUserInfoAlternateRegionKey] as? CLRegion }
}
