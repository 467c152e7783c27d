extension CBError {
    /// The codes of Core Bluetooth's errors, numbered as in Apple's header.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The error that has these codes.
        public typealias _ErrorType = CBError

        /// Something that has no code.
        case unknown = 0

        /// The arguments make no sense.
        case invalidParameters = 1

        /// There is no attribute of this handle.
        case invalidHandle = 2

        /// The device is not connected.
        case notConnected = 3

        /// There is no room left.
        case outOfSpace = 4

        /// The operation was cancelled.
        case operationCancelled = 5

        /// The connection timed out.
        case connectionTimeout = 6

        /// The peripheral ended the connection.
        case peripheralDisconnected = 7

        /// The UUID may not be used.
        case uuidNotAllowed = 8

        /// The device advertises already.
        case alreadyAdvertising = 9

        /// No connection came about.
        case connectionFailed = 10

        /// There are too many connections.
        case connectionLimitReached = 11

        /// The device is not known.
        case unknownDevice = 12

        /// The operation is not supported.
        case operationNotSupported = 13

        /// The other side forgot the pairing.
        case peerRemovedPairingInformation = 14

        /// Encryption timed out.
        case encryptionTimedOut = 15

        /// There are too many paired devices.
        case tooManyLEPairedDevices = 16

        /// There were too many notifications in the background.
        case leGattExceededBackgroundNotificationLimit = 17

        /// There are almost too many notifications in the background.
        case leGattNearBackgroundNotificationLimit = 18

        /// The name that ``unknownDevice`` once had by mistake.
        @available(*, deprecated, renamed: "unknownDevice")
        public static var unkownDevice: Code { .unknownDevice }
    }
}
