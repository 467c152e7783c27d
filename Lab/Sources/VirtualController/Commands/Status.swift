/// The status of a command: success, or the reason for a refusal (Core Specification 5.3, Vol 1, Part F, 1.3).
public struct Status: Error, Hashable, Sendable, RawRepresentable {
    /// The status byte in the answer.
    public let rawValue: UInt8

    /// Creates a status from its number.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    static let success = Status(rawValue: 0x00)
    static let unknownCommand = Status(rawValue: 0x01)
    static let connectionLimitExceeded = Status(rawValue: 0x09)
    static let commandDisallowed = Status(rawValue: 0x0C)
    static let memoryCapacityExceeded = Status(rawValue: 0x07)
    static let invalidParameters = Status(rawValue: 0x12)
    static let advertisingTimeout = Status(rawValue: 0x3C)
    static let unknownAdvertisingIdentifier = Status(rawValue: 0x42)
    static let limitReached = Status(rawValue: 0x43)
}
