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
