/// An error of the service for location pushes, which is not available here.
///
/// It has the shape of ``CLError``.
public struct CLLocationPushServiceError: _BridgedStoredNSError, Sendable {
    /// The error as Foundation stores it.
    public let _nsError: NSError

    /// Creates an error from the one that Foundation stores.
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

    /// Feeds the code. Foundation's own implementation traps outside Apple's systems (Swift 6.3).
    public func hash(into hasher: inout Hasher) { hasher.combine(_nsError.code) }

    /// The codes, numbered as in Apple's header.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The error that has these codes.
        public typealias _ErrorType = CLLocationPushServiceError

        /// The service cannot be used, for an unknown reason.
        case unknown = 0

        /// The app has no extension for location pushes.
        case missingPushExtension = 1

        /// The app names no push server.
        case missingPushServerEnvironment = 2

        /// The app is not entitled to location pushes.
        case missingEntitlement = 3

        /// The platform has no location pushes.
        case unsupportedPlatform = 4
    }

    /// The service cannot be used, for an unknown reason.
    public static var unknown: Code { .unknown }

    /// The app has no extension for location pushes.
    public static var missingPushExtension: Code { .missingPushExtension }

    /// The app names no push server.
    public static var missingPushServerEnvironment: Code { .missingPushServerEnvironment }

    /// The app is not entitled to location pushes.
    public static var missingEntitlement: Code { .missingEntitlement }

    /// The platform has no location pushes.
    public static var unsupportedPlatform: Code { .unsupportedPlatform }
}

/// The domain of errors of location pushes. Apple's documents give no value, and apps use it by name only.
public let CLLocationPushServiceErrorDomain = "CLLocationPushServiceErrorDomain"

/// The receiver of location pushes. No push ever arrives here.
public protocol CLLocationPushServiceExtension: NSObjectProtocol {
    /// Receives a location push. Never called.
    func didReceiveLocationPushPayload(_ payload: [String: Any], completion: @escaping () -> Void)

    /// Receives a location push. Never called. An extension has this form or the other.
    func didReceiveLocationPushPayload(_ payload: [String: Any]) async

    /// Reports that the extension ends soon. Never called.
    func serviceExtensionWillTerminate()
}

extension CLLocationPushServiceExtension {
    /// Does nothing.
    public func didReceiveLocationPushPayload(_ payload: [String: Any], completion: @escaping () -> Void) {}

    /// Does nothing.
    public func didReceiveLocationPushPayload(_ payload: [String: Any]) async {}

    /// Does nothing.
    public func serviceExtensionWillTerminate() {}
}
