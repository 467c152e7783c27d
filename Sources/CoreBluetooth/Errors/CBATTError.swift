/// The answer of an attribute server to a request, in the Attribute Protocol's words.
///
/// It has the shape of an error that Swift imports from Apple's SDK: `CBATTError(.invalidHandle)`, `catch
/// CBATTError.invalidHandle`, `(error as? CBATTError)?.code` and `(error as NSError).code` all work. On Linux a bare
/// `NSError` of this domain does not become a `CBATTError`.
public struct CBATTError: _BridgedStoredNSError, Sendable {
    /// The error as Foundation stores it.
    public let _nsError: NSError

    /// Creates an error from the one that Foundation stores.
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

extension CBATTError {
    /// The codes of the Attribute Protocol (Bluetooth Core Specification, volume 3, part F).
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The error that has these codes.
        public typealias _ErrorType = CBATTError

        /// No error.
        case success = 0

        /// There is no attribute of this handle.
        case invalidHandle = 1

        /// The attribute may not be read.
        case readNotPermitted = 2

        /// The attribute may not be written.
        case writeNotPermitted = 3

        /// The request is malformed.
        case invalidPdu = 4

        /// Authentication is needed.
        case insufficientAuthentication = 5

        /// The request is not supported.
        case requestNotSupported = 6

        /// The offset is behind the end of the value.
        case invalidOffset = 7

        /// Authorization is needed.
        case insufficientAuthorization = 8

        /// Too many writes are waiting.
        case prepareQueueFull = 9

        /// There is no attribute in this range.
        case attributeNotFound = 10

        /// The attribute cannot be read in parts.
        case attributeNotLong = 11

        /// The encryption key is too short.
        case insufficientEncryptionKeySize = 12

        /// The value has a wrong length.
        case invalidAttributeValueLength = 13

        /// The request met an unlikely error.
        case unlikelyError = 14

        /// Encryption is needed.
        case insufficientEncryption = 15

        /// The attribute does not group others.
        case unsupportedGroupType = 16

        /// Resources do not suffice.
        case insufficientResources = 17
    }
}

// Each code once more by its own name, so that `catch CBATTError.invalidHandle` reads as it does with Apple's SDK.
extension CBATTError {
    /// No error.
    public static var success: CBATTError.Code { .success }

    /// There is no attribute of this handle.
    public static var invalidHandle: CBATTError.Code { .invalidHandle }

    /// The attribute may not be read.
    public static var readNotPermitted: CBATTError.Code { .readNotPermitted }

    /// The attribute may not be written.
    public static var writeNotPermitted: CBATTError.Code { .writeNotPermitted }

    /// The request is malformed.
    public static var invalidPdu: CBATTError.Code { .invalidPdu }

    /// Authentication is needed.
    public static var insufficientAuthentication: CBATTError.Code { .insufficientAuthentication }

    /// The request is not supported.
    public static var requestNotSupported: CBATTError.Code { .requestNotSupported }

    /// The offset is behind the end of the value.
    public static var invalidOffset: CBATTError.Code { .invalidOffset }

    /// Authorization is needed.
    public static var insufficientAuthorization: CBATTError.Code { .insufficientAuthorization }

    /// Too many writes are waiting.
    public static var prepareQueueFull: CBATTError.Code { .prepareQueueFull }

    /// There is no attribute in this range.
    public static var attributeNotFound: CBATTError.Code { .attributeNotFound }

    /// The attribute cannot be read in parts.
    public static var attributeNotLong: CBATTError.Code { .attributeNotLong }

    /// The encryption key is too short.
    public static var insufficientEncryptionKeySize: CBATTError.Code { .insufficientEncryptionKeySize }

    /// The value has a wrong length.
    public static var invalidAttributeValueLength: CBATTError.Code { .invalidAttributeValueLength }

    /// The request met an unlikely error.
    public static var unlikelyError: CBATTError.Code { .unlikelyError }

    /// Encryption is needed.
    public static var insufficientEncryption: CBATTError.Code { .insufficientEncryption }

    /// The attribute does not group others.
    public static var unsupportedGroupType: CBATTError.Code { .unsupportedGroupType }

    /// Resources do not suffice.
    public static var insufficientResources: CBATTError.Code { .insufficientResources }
}
