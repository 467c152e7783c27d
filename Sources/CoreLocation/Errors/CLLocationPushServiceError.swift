/// An error of the location push service, which is not available here.
///
/// It has the same shape as ``CLError``.
public struct CLLocationPushServiceError: _BridgedStoredNSError, Sendable {
    /// The error as Foundation stores it.
    public let _nsError: NSError

    /// Creates an error from Foundation's.
    ///
    /// - Precondition: its domain is ``CLLocationPushServiceErrorDomain``.
    public init(_nsError: NSError) {
        precondition(
            _nsError.domain == CLLocationPushServiceErrorDomain,
            "a CLLocationPushServiceError has the domain \(CLLocationPushServiceErrorDomain)")
        self._nsError = _nsError
    }

    /// ``CLLocationPushServiceErrorDomain``
    public static var _nsErrorDomain: String { CLLocationPushServiceErrorDomain }

    /// ``CLLocationPushServiceErrorDomain``
    public static var errorDomain: String { CLLocationPushServiceErrorDomain }

    /// Hashes the code. Foundation's own implementation traps outside Apple's systems (Swift 6.3).
    public func hash(into hasher: inout Hasher) { hasher.combine(_nsError.code) }

    /// The codes, numbered as in Apple's header.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The error type with these codes.
        public typealias _ErrorType = CLLocationPushServiceError

        /// The service cannot be used, for an unknown reason.
        case unknown = 0

        /// The app has no location push extension.
        case missingPushExtension = 1

        /// The app does not specify a push server.
        case missingPushServerEnvironment = 2

        /// The app lacks the entitlement for location pushes.
        case missingEntitlement = 3

        /// The platform does not support location pushes.
        case unsupportedPlatform = 4
    }
}

// Each code again as a static member, as in ``CLError``.
public extension CLLocationPushServiceError {
    static var unknown: Code { .unknown }
    static var missingPushExtension: Code { .missingPushExtension }
    static var missingPushServerEnvironment: Code { .missingPushServerEnvironment }
    static var missingEntitlement: Code { .missingEntitlement }
    static var unsupportedPlatform: Code { .unsupportedPlatform }
}

/// The domain of location push errors. Apple does not document the value, and apps use the constant only.
public let CLLocationPushServiceErrorDomain = "CLLocationPushServiceErrorDomain"

/// The extension that receives location pushes. No push ever arrives here.
public protocol CLLocationPushServiceExtension: NSObjectProtocol {
    /// Receives a location push. Never called.
    func didReceiveLocationPushPayload(_ payload: [String: Any], completion: @escaping () -> Void)

    /// Receives a location push. Never called. An extension implements one of the two forms.
    func didReceiveLocationPushPayload(_ payload: [String: Any]) async

    /// Reports that the extension will terminate. Never called.
    func serviceExtensionWillTerminate()
}

public extension CLLocationPushServiceExtension {
    func didReceiveLocationPushPayload(_ payload: [String: Any], completion: @escaping () -> Void) {}
    func didReceiveLocationPushPayload(_ payload: [String: Any]) async {}
    func serviceExtensionWillTerminate() {}
}
