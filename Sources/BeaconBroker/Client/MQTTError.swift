import BeaconSupport
import CMosquitto

/// An error of a broker connection or of a message, with its remedy.
public struct MQTTError: Error, Sendable, CustomStringConvertible {
    /// A kind of failure. More kinds may be added, so a `switch` over codes needs a default.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case invalidSettings, hostUnknown, unreachable, badCredentials, notAuthorized, connectionRefused, tlsFailed
            case connectionLost, timedOut, messageRefused, invalidMessage, breaksConnection
            case messageTooLong, closed, failed
        }

        private let value: Value

        /// The options contain mistakes.
        public static let invalidSettings = Code(value: .invalidSettings)
        /// The broker's host name cannot be resolved.
        public static let hostUnknown = Code(value: .hostUnknown)
        /// Nothing answers at the broker's host and port.
        public static let unreachable = Code(value: .unreachable)
        /// The broker does not accept the user name or the password.
        public static let badCredentials = Code(value: .badCredentials)
        /// The user lacks a permission.
        public static let notAuthorized = Code(value: .notAuthorized)
        /// The broker refuses the connection for another reason.
        public static let connectionRefused = Code(value: .connectionRefused)
        /// The connection could not be secured.
        public static let tlsFailed = Code(value: .tlsFailed)
        /// The connection ended before the broker sent an acknowledgement.
        public static let connectionLost = Code(value: .connectionLost)
        /// The broker did not send an acknowledgement in time.
        public static let timedOut = Code(value: .timedOut)
        /// The broker refused the message.
        public static let messageRefused = Code(value: .messageRefused)
        /// The message is not valid.
        public static let invalidMessage = Code(value: .invalidMessage)
        /// The connection broke repeatedly while the message was unacknowledged. The message is not sent again.
        public static let breaksConnection = Code(value: .breaksConnection)
        /// An incoming message exceeded the client's limit, and the client ended the connection.
        public static let messageTooLong = Code(value: .messageTooLong)
        /// The client was closed.
        public static let closed = Code(value: .closed)
        /// Another failure.
        public static let failed = Code(value: .failed)
    }

    /// The kind of failure.
    public var code: Code

    /// The action, the answer to it, and the remedy if known.
    public var message: String

    /// The broker's reason code, if it sent one.
    public var reason: MQTTReason?

    /// The underlying error, such as the TLS library's.
    public var cause: (any Error)?

    /// Possible causes, if the actual cause is unknown.
    public var possibleCauses: [String]

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - message: the action, the answer to it, and the remedy if known.
    ///   - reason: the broker's reason code, if it sent one.
    ///   - cause: the underlying error.
    ///   - possibleCauses: possible causes, if the actual cause is unknown.
    public init(
        _ code: Code, _ message: String, reason: MQTTReason? = nil, cause: (any Error)? = nil,
        possibleCauses: [String] = []
    ) {
        self.code = code
        self.message = message
        self.reason = reason
        self.cause = cause
        self.possibleCauses = possibleCauses
    }

    /// The message, the cause's message, and the possible causes.
    public var description: String {
        var text = message
        if let cause { text = text.hasSuffix(".") ? "\(text.dropLast()) (\(cause))." : "\(text) (\(cause))" }
        return possibleCauses.isEmpty ? text : "\(text.sentence) \(possibleCauses.asPossibleCauses)"
    }
}

extension MQTTError {
    /// The error of a client that is closed or closing.
    static let closed = MQTTError(.closed, "The connection to the broker is closed.")

    /// Whether the failure may pass without a change of the configuration.
    var isTransient: Bool {
        switch code {
        case .invalidSettings, .badCredentials, .notAuthorized, .tlsFailed, .invalidMessage, .closed: false
        default: true
        }
    }

    /// Whether an unacknowledged message may have caused the loss of an accepted connection.
    var isPossiblyOfMessage: Bool {
        guard code == .connectionLost, (cause as? MosquittoError)?.isTimeout != true else { return false }
        switch reason {
        case .sessionTakenOver?, .banned?, .serverUnavailable?, .serverBusy?, .shuttingDown?, .keepAliveTimeout?,
            .quotaExceeded?, .administrativeAction?, .useAnotherServer?, .serverMoved?, .rateExceeded?,
            .connectTimeExceeded?:
            return false
        default: return true
        }
    }
}

/// A reason code of MQTT 5.0: a broker's result of an operation (MQTT 5.0, 2.4).
public struct MQTTReason: RawRepresentable, Hashable, Sendable {
    /// The code in the packet. Codes from 128 on are failures.
    public let rawValue: UInt8

    /// Creates a reason.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Whether the reason is a failure.
    public var isFailure: Bool { rawValue >= 0x80 }

    static let unspecified = MQTTReason(rawValue: 0x80)
    static let malformedPacket = MQTTReason(rawValue: 0x81)
    static let protocolError = MQTTReason(rawValue: 0x82)
    static let unsupportedVersion = MQTTReason(rawValue: 0x84)
    static let clientIDNotValid = MQTTReason(rawValue: 0x85)
    static let badUserNameOrPassword = MQTTReason(rawValue: 0x86)
    static let notAuthorized = MQTTReason(rawValue: 0x87)
    static let serverUnavailable = MQTTReason(rawValue: 0x88)
    static let serverBusy = MQTTReason(rawValue: 0x89)
    static let banned = MQTTReason(rawValue: 0x8A)
    static let shuttingDown = MQTTReason(rawValue: 0x8B)
    static let keepAliveTimeout = MQTTReason(rawValue: 0x8D)
    static let sessionTakenOver = MQTTReason(rawValue: 0x8E)
    static let quotaExceeded = MQTTReason(rawValue: 0x97)
    static let administrativeAction = MQTTReason(rawValue: 0x98)
    static let retainNotSupported = MQTTReason(rawValue: 0x9A)
    static let qualityNotSupported = MQTTReason(rawValue: 0x9B)
    static let useAnotherServer = MQTTReason(rawValue: 0x9C)
    static let serverMoved = MQTTReason(rawValue: 0x9D)
    static let rateExceeded = MQTTReason(rawValue: 0x9F)
    static let connectTimeExceeded = MQTTReason(rawValue: 0xA0)
    package static let topicNameInvalid = MQTTReason(rawValue: 0x90)
    package static let packetTooLarge = MQTTReason(rawValue: 0x95)
    package static let payloadFormatInvalid = MQTTReason(rawValue: 0x99)

    /// The reason for a return code in the CONNACK of MQTT 3.1.1 (MQTT 3.1.1, 3.2.2.3).
    init(connectReturnCode code: Int32) {
        switch code {
        case 0: self.init(rawValue: 0)
        case 1: self = .unsupportedVersion
        case 2: self = .clientIDNotValid
        case 3: self = .serverUnavailable
        case 4: self = .badUserNameOrPassword
        case 5: self = .notAuthorized
        default: self = UInt8(exactly: code).map(MQTTReason.init(rawValue:)) ?? .unspecified
        }
    }
}

extension MQTTReason: CustomStringConvertible {
    /// The reason in libmosquitto's words.
    public var description: String {
        var problem: UnsafePointer<CChar>?
        let text = beacon_mosquitto_load(&problem).map { String(cString: $0.pointee.reason_string(Int32(rawValue))) }
        guard let text, text != "Unknown reason" else { return "reason code \(rawValue)" }
        return text.lowercased().replacing("qos", with: "QoS")
            + (self == .sessionTakenOver ? ": another client has the same client id" : "")
    }
}
