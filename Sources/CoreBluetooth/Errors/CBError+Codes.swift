// Each code once more by its own name, so that `catch CBError.invalidParameters` reads as it does with Apple's SDK.
extension CBError {
    /// Something that has no code.
    public static var unknown: CBError.Code { .unknown }

    /// The arguments make no sense.
    public static var invalidParameters: CBError.Code { .invalidParameters }

    /// There is no attribute of this handle.
    public static var invalidHandle: CBError.Code { .invalidHandle }

    /// The device is not connected.
    public static var notConnected: CBError.Code { .notConnected }

    /// There is no room left.
    public static var outOfSpace: CBError.Code { .outOfSpace }

    /// The operation was cancelled.
    public static var operationCancelled: CBError.Code { .operationCancelled }

    /// The connection timed out.
    public static var connectionTimeout: CBError.Code { .connectionTimeout }

    /// The peripheral ended the connection.
    public static var peripheralDisconnected: CBError.Code { .peripheralDisconnected }

    /// The UUID may not be used.
    public static var uuidNotAllowed: CBError.Code { .uuidNotAllowed }

    /// The device advertises already.
    public static var alreadyAdvertising: CBError.Code { .alreadyAdvertising }

    /// No connection came about.
    public static var connectionFailed: CBError.Code { .connectionFailed }

    /// There are too many connections.
    public static var connectionLimitReached: CBError.Code { .connectionLimitReached }

    /// The device is not known.
    public static var unknownDevice: CBError.Code { .unknownDevice }

    /// The operation is not supported.
    public static var operationNotSupported: CBError.Code { .operationNotSupported }

    /// The other side forgot the pairing.
    public static var peerRemovedPairingInformation: CBError.Code { .peerRemovedPairingInformation }

    /// Encryption timed out.
    public static var encryptionTimedOut: CBError.Code { .encryptionTimedOut }

    /// There are too many paired devices.
    public static var tooManyLEPairedDevices: CBError.Code { .tooManyLEPairedDevices }

    /// There were too many notifications in the background.
    public static var leGattExceededBackgroundNotificationLimit: CBError.Code {
        .leGattExceededBackgroundNotificationLimit
    }

    /// There are almost too many notifications in the background.
    public static var leGattNearBackgroundNotificationLimit: CBError.Code { .leGattNearBackgroundNotificationLimit }
}
