/// What a controller answers to a command, by the numbers of Core Specification 5.3, Vol 1, Part F.
struct HCIStatus: RawRepresentable, Hashable, CustomStringConvertible {
    let rawValue: UInt8

    static let success = HCIStatus(rawValue: 0x00)
    static let unknownCommand = HCIStatus(rawValue: 0x01)
    static let memoryFull = HCIStatus(rawValue: 0x07)
    static let limitReached = HCIStatus(rawValue: 0x09)
    static let disallowed = HCIStatus(rawValue: 0x0C)
    static let invalidParameters = HCIStatus(rawValue: 0x12)
    static let unknownAdvertisingSet = HCIStatus(rawValue: 0x42)

    /// Its name in the specification, with its number.
    var description: String {
        let number = "0x" + (rawValue < 16 ? "0" : "") + String(rawValue, radix: 16)
        return switch self {
        case .success: "Success"
        case .unknownCommand: "Unknown HCI Command (\(number))"
        case .memoryFull: "Memory Capacity Exceeded (\(number))"
        case .limitReached: "Connection Limit Exceeded (\(number))"
        case .disallowed: "Command Disallowed (\(number))"
        case .invalidParameters: "Invalid HCI Command Parameters (\(number))"
        case .unknownAdvertisingSet: "Unknown Advertising Identifier (\(number))"
        default: "status \(number)"
        }
    }
}
