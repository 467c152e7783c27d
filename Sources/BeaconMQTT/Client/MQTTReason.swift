/// A reason code of MQTT 5.0, by which a broker says how something went (MQTT 5.0, 2.4).
public struct MQTTReason: RawRepresentable, Hashable, Sendable {
    /// The code as it travels. From 128 on it is a failure.
    public let rawValue: UInt8

    /// A reason of this code.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Whether something failed.
    public var isFailure: Bool { rawValue >= 0x80 }

    static let unspecified = MQTTReason(rawValue: 0x80)
    static let unsupportedVersion = MQTTReason(rawValue: 0x84)
    static let clientIDNotValid = MQTTReason(rawValue: 0x85)
    static let badUserNameOrPassword = MQTTReason(rawValue: 0x86)
    static let notAuthorized = MQTTReason(rawValue: 0x87)
    static let serverUnavailable = MQTTReason(rawValue: 0x88)
    static let banned = MQTTReason(rawValue: 0x8A)
    static let sessionTakenOver = MQTTReason(rawValue: 0x8E)
    static let topicNameInvalid = MQTTReason(rawValue: 0x90)
    static let packetTooLarge = MQTTReason(rawValue: 0x95)
    static let payloadFormatInvalid = MQTTReason(rawValue: 0x99)

    /// The reason that a return code of MQTT 3.1.1's CONNACK stands for (MQTT 3.1.1, 3.2.2.3).
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
    /// The reason in words, to go after "the broker says".
    public var description: String {
        switch rawValue {
        case 0x00: "all is well"
        case 0x10: "nobody is subscribed"
        case 0x80: "it failed, for a reason that is not told"
        case 0x81: "a packet was malformed"
        case 0x82: "the protocol was not kept to"
        case 0x83: "it failed for a reason of its own"
        case 0x84: "it does not speak this version of MQTT"
        case 0x85: "the client id is not allowed"
        case 0x86: "user name or password are wrong"
        case 0x87: "there is no right to do this"
        case 0x88: "it is not available"
        case 0x89: "it is busy"
        case 0x8A: "this client is banned"
        case 0x8B: "it shuts down"
        case 0x8C: "the way to authenticate is wrong"
        case 0x8D: "it heard nothing for too long"
        case 0x8E: "another client came with the same client id"
        case 0x8F: "the topic filter is not allowed"
        case 0x90: "the topic is not allowed"
        case 0x91: "the packet id is in use"
        case 0x92: "the packet id is not known"
        case 0x93: "too much was sent at once"
        case 0x94: "the topic alias is not known"
        case 0x95: "the packet is too large"
        case 0x96: "messages come too fast"
        case 0x97: "a quota is used up"
        case 0x98: "an administrator ended the connection"
        case 0x99: "the payload is not in the format that it should be"
        case 0x9A: "it retains no messages"
        case 0x9B: "it does not offer this quality of service"
        case 0x9C: "another server is to be used for now"
        case 0x9D: "the server has moved"
        case 0x9E: "it offers no shared subscriptions"
        case 0x9F: "connections come too fast"
        case 0xA0: "the longest time of a connection is over"
        case 0xA1: "it offers no subscription identifiers"
        case 0xA2: "it offers no wildcards"
        default: "reason \(rawValue)"
        }
    }
}
