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
