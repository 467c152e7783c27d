/// A response of an attribute server to a request, as defined by the Attribute Protocol.
///
/// It has the same shape as an error that Swift imports from Apple's SDK: `CBATTError(.invalidHandle)`, `catch
/// CBATTError.invalidHandle`, `(error as? CBATTError)?.code` and `(error as NSError).code` all work. On Linux, a plain
/// `NSError` with this domain cannot be cast to `CBATTError`.
public struct CBATTError: _BridgedStoredNSError, Sendable {
    /// The error as Foundation stores it.
    public let _nsError: NSError

    /// Creates an error from Foundation's.
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

    /// Hashes the code. Foundation's own implementation traps outside Apple's systems (Swift 6.3).
    public func hash(into hasher: inout Hasher) {
        hasher.combine(_nsError.code)
    }
}

extension CBATTError {
    /// The codes of the Attribute Protocol (Bluetooth Core Specification, volume 3, part F).
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The error type with these codes.
        public typealias _ErrorType = CBATTError

        /// No error.
        case success = 0

        /// The attribute handle is invalid.
        case invalidHandle = 1

        /// The attribute may not be read.
        case readNotPermitted = 2

        /// The attribute may not be written.
        case writeNotPermitted = 3

        /// The request is malformed.
        case invalidPdu = 4

        /// Authentication is required.
        case insufficientAuthentication = 5

        /// The request is not supported.
        case requestNotSupported = 6

        /// The offset is past the end of the value.
        case invalidOffset = 7

        /// Authorization is required.
        case insufficientAuthorization = 8

        /// Too many writes are queued.
        case prepareQueueFull = 9

        /// No attribute was found in this range.
        case attributeNotFound = 10

        /// The attribute does not support partial reads.
        case attributeNotLong = 11

        /// The encryption key is too short.
        case insufficientEncryptionKeySize = 12

        /// The value has an invalid length.
        case invalidAttributeValueLength = 13

        /// An unlikely error occurred.
        case unlikelyError = 14

        /// Encryption is required.
        case insufficientEncryption = 15

        /// The attribute type is not a supported grouping type.
        case unsupportedGroupType = 16

        /// The resources are insufficient.
        case insufficientResources = 17
    }
}

// Each code again as a static member, so that `catch CBATTError.invalidHandle` works as with Apple's SDK.
public extension CBATTError {
    static var success: CBATTError.Code { .success }
    static var invalidHandle: CBATTError.Code { .invalidHandle }
    static var readNotPermitted: CBATTError.Code { .readNotPermitted }
    static var writeNotPermitted: CBATTError.Code { .writeNotPermitted }
    static var invalidPdu: CBATTError.Code { .invalidPdu }
    static var insufficientAuthentication: CBATTError.Code { .insufficientAuthentication }
    static var requestNotSupported: CBATTError.Code { .requestNotSupported }
    static var invalidOffset: CBATTError.Code { .invalidOffset }
    static var insufficientAuthorization: CBATTError.Code { .insufficientAuthorization }
    static var prepareQueueFull: CBATTError.Code { .prepareQueueFull }
    static var attributeNotFound: CBATTError.Code { .attributeNotFound }
    static var attributeNotLong: CBATTError.Code { .attributeNotLong }
    static var insufficientEncryptionKeySize: CBATTError.Code { .insufficientEncryptionKeySize }
    static var invalidAttributeValueLength: CBATTError.Code { .invalidAttributeValueLength }
    static var unlikelyError: CBATTError.Code { .unlikelyError }
    static var insufficientEncryption: CBATTError.Code { .insufficientEncryption }
    static var unsupportedGroupType: CBATTError.Code { .unsupportedGroupType }
    static var insufficientResources: CBATTError.Code { .insufficientResources }
}
