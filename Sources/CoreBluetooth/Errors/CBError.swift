internal import BeaconRadio

/// An error of Core Bluetooth.
///
/// It has the same shape as an error that Swift imports from Apple's SDK: `CBError(.invalidParameters)`, `catch
/// CBError.invalidParameters`, `(error as? CBError)?.code` and `(error as NSError).code` all work. On Linux, a plain
/// `NSError` with this domain cannot be cast to `CBError`.
public struct CBError: _BridgedStoredNSError, Sendable {
    /// The error as Foundation stores it.
    public let _nsError: NSError

    /// Creates an error from Foundation's.
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

    /// Hashes the code. Foundation's own implementation traps outside Apple's systems (Swift 6.3).
    public func hash(into hasher: inout Hasher) {
        hasher.combine(_nsError.code)
    }
}

extension CBError {
    /// The codes of Core Bluetooth's errors, numbered as in Apple's header.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The error type with these codes.
        public typealias _ErrorType = CBError

        /// An unknown error.
        case unknown = 0

        /// The parameters are invalid.
        case invalidParameters = 1

        /// The attribute handle is invalid.
        case invalidHandle = 2

        /// The device is not connected.
        case notConnected = 3

        /// There is no space left.
        case outOfSpace = 4

        /// The operation was cancelled.
        case operationCancelled = 5

        /// The connection timed out.
        case connectionTimeout = 6

        /// The peripheral ended the connection.
        case peripheralDisconnected = 7

        /// The UUID is not allowed.
        case uuidNotAllowed = 8

        /// The device is already advertising.
        case alreadyAdvertising = 9

        /// The connection failed.
        case connectionFailed = 10

        /// There are too many connections.
        case connectionLimitReached = 11

        /// The device is unknown.
        case unknownDevice = 12

        /// The operation is not supported.
        case operationNotSupported = 13

        /// The peer removed its pairing information.
        case peerRemovedPairingInformation = 14

        /// Encryption timed out.
        case encryptionTimedOut = 15

        /// There are too many paired devices.
        case tooManyLEPairedDevices = 16

        /// There were too many notifications in the background.
        case leGattExceededBackgroundNotificationLimit = 17

        /// The number of background notifications is near the limit.
        case leGattNearBackgroundNotificationLimit = 18

        /// A misspelled former name of ``unknownDevice``.
        @available(*, deprecated, renamed: "unknownDevice")
        public static var unkownDevice: Code { .unknownDevice }
    }
}

// Each code again as a static member, so that `catch CBError.invalidParameters` works as with Apple's SDK.
public extension CBError {
    static var unknown: CBError.Code { .unknown }
    static var invalidParameters: CBError.Code { .invalidParameters }
    static var invalidHandle: CBError.Code { .invalidHandle }
    static var notConnected: CBError.Code { .notConnected }
    static var outOfSpace: CBError.Code { .outOfSpace }
    static var operationCancelled: CBError.Code { .operationCancelled }
    static var connectionTimeout: CBError.Code { .connectionTimeout }
    static var peripheralDisconnected: CBError.Code { .peripheralDisconnected }
    static var uuidNotAllowed: CBError.Code { .uuidNotAllowed }
    static var alreadyAdvertising: CBError.Code { .alreadyAdvertising }
    static var connectionFailed: CBError.Code { .connectionFailed }
    static var connectionLimitReached: CBError.Code { .connectionLimitReached }
    static var unknownDevice: CBError.Code { .unknownDevice }
    static var operationNotSupported: CBError.Code { .operationNotSupported }
    static var peerRemovedPairingInformation: CBError.Code { .peerRemovedPairingInformation }
    static var encryptionTimedOut: CBError.Code { .encryptionTimedOut }
    static var tooManyLEPairedDevices: CBError.Code { .tooManyLEPairedDevices }
    static var leGattExceededBackgroundNotificationLimit: CBError.Code {
        .leGattExceededBackgroundNotificationLimit
    }
    static var leGattNearBackgroundNotificationLimit: CBError.Code { .leGattNearBackgroundNotificationLimit }
}

/// The domain of ``CBError``.
public let CBErrorDomain = "CBErrorDomain"

/// The domain of ``CBATTError``.
public let CBATTErrorDomain = "CBATTErrorDomain"

extension CBError {
    /// Creates an error from a radio's. Core Bluetooth has no code for most radio errors, so the radio's message
    /// becomes the error's localized description.
    init(_ error: RadioError) {
        self.init(
            error.code == .unsupported ? .operationNotSupported : .unknown,
            userInfo: [NSLocalizedDescriptionKey: error.message])
    }
}
