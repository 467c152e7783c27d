/// What went wrong in Core Bluetooth.
///
/// It has the shape of an error that Swift imports from Apple's SDK: `CBError(.invalidParameters)`, `catch CBError.invalidParameters`,
/// `(error as? CBError)?.code` and `(error as NSError).code` all work. On Linux a bare `NSError` of this domain does not
/// become a `CBError`.
public struct CBError: _BridgedStoredNSError, Sendable {
    /// The error as Foundation stores it.
    public let _nsError: NSError

    /// The error that Foundation stores.
    ///
    /// - Precondition: its domain is ``CBErrorDomain``.
    public init(_nsError: NSError) {
        precondition(_nsError.domain == CBErrorDomain, "a CBError has the domain \(CBErrorDomain)")
        self._nsError = _nsError
    }

    /// ``CBErrorDomain``
    public static var _nsErrorDomain: String { CBErrorDomain }

    /// ``CBErrorDomain``
    public static var errorDomain: String { CBErrorDomain }

    /// Feeds the code. Foundation's own implementation traps outside Apple's systems (Swift 6.3).
    public func hash(into hasher: inout Hasher) {
        hasher.combine(_nsError.code)
    }
}
