/// How an attribute server answers a request, in the Attribute Protocol's words.
///
/// It has the shape of an error that Swift imports from Apple's SDK: `CBATTError(.invalidHandle)`, `catch CBATTError.invalidHandle`,
/// `(error as? CBATTError)?.code` and `(error as NSError).code` all work. On Linux a bare `NSError` of this domain does not
/// become a `CBATTError`.
public struct CBATTError: _BridgedStoredNSError, Sendable {
    /// The error as Foundation stores it.
    public let _nsError: NSError

    /// The error that Foundation stores.
    ///
    /// - Precondition: its domain is ``CBATTErrorDomain``.
    public init(_nsError: NSError) {
        precondition(_nsError.domain == CBATTErrorDomain, "a CBATTError has the domain \(CBATTErrorDomain)")
        self._nsError = _nsError
    }

    /// ``CBATTErrorDomain``
    public static var _nsErrorDomain: String { CBATTErrorDomain }

    /// ``CBATTErrorDomain``
    public static var errorDomain: String { CBATTErrorDomain }

    /// Feeds the code. Foundation's own implementation traps outside Apple's systems (Swift 6.3).
    public func hash(into hasher: inout Hasher) {
        hasher.combine(_nsError.code)
    }
}
