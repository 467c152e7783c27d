import BeaconModel

/// An HCI command (Core Specification 5.3, Vol 4, Part E, 5.4.1).
struct HCICommand: Hashable {
    let opcode: HCIOpcode
    let parameters: [UInt8]

    init(_ opcode: HCIOpcode, _ parameters: [UInt8] = []) {
        self.opcode = opcode
        self.parameters = parameters
    }

    /// Reads a packet from any process: type, opcode, length, parameters.
    ///
    /// - Returns: nil if it is not a complete command.
    init?(packet: RawSpan) {
        guard packet.byteCount >= 4, packet[0] == Self.packetType else { return nil }
        let count = Int(packet[3])
        guard packet.byteCount >= 4 + count else { return nil }
        opcode = HCIOpcode(rawValue: UInt16(packet[1]) | UInt16(packet[2]) << 8)
        parameters = (0..<count).map { packet[4 + $0] }
    }

    /// The byte before each command (Vol 4, Part A, 2).
    static let packetType: UInt8 = 0x01

    /// The bytes to write to a socket: type, opcode, length, parameters.
    var packet: [UInt8] {
        [
            Self.packetType, UInt8(truncatingIfNeeded: opcode.rawValue), UInt8(opcode.rawValue >> 8),
            UInt8(parameters.count),
        ] + parameters
    }
}

/// The opcode of an HCI command (Core Specification 5.3, Vol 4, Part E, 7): the group in the upper six bits, the
/// command in the lower ten.
struct HCIOpcode: RawRepresentable, Hashable, CustomStringConvertible {
    let rawValue: UInt16

    static let setEventMask = HCIOpcode(rawValue: 0x0C01)
    static let reset = HCIOpcode(rawValue: 0x0C03)
    static let readLocalVersion = HCIOpcode(rawValue: 0x1001)
    static let readSupportedCommands = HCIOpcode(rawValue: 0x1002)
    static let readAddress = HCIOpcode(rawValue: 0x1009)
    static let setLEEventMask = HCIOpcode(rawValue: 0x2001)
    static let readLEFeatures = HCIOpcode(rawValue: 0x2003)
    static let setRandomAddress = HCIOpcode(rawValue: 0x2005)
    static let setAdvertisingParameters = HCIOpcode(rawValue: 0x2006)
    static let setAdvertisingData = HCIOpcode(rawValue: 0x2008)
    static let setScanResponseData = HCIOpcode(rawValue: 0x2009)
    static let setAdvertisingEnable = HCIOpcode(rawValue: 0x200A)
    static let setScanParameters = HCIOpcode(rawValue: 0x200B)
    static let setScanEnable = HCIOpcode(rawValue: 0x200C)
    static let setAdvertisingSetAddress = HCIOpcode(rawValue: 0x2035)
    static let setExtendedAdvertisingParameters = HCIOpcode(rawValue: 0x2036)
    static let setExtendedAdvertisingData = HCIOpcode(rawValue: 0x2037)
    static let setExtendedScanResponseData = HCIOpcode(rawValue: 0x2038)
    static let setExtendedAdvertisingEnable = HCIOpcode(rawValue: 0x2039)
    static let readAdvertisingSetCount = HCIOpcode(rawValue: 0x203B)
    static let removeAdvertisingSet = HCIOpcode(rawValue: 0x203C)
    static let clearAdvertisingSets = HCIOpcode(rawValue: 0x203D)
    static let setExtendedScanParameters = HCIOpcode(rawValue: 0x2041)
    static let setExtendedScanEnable = HCIOpcode(rawValue: 0x2042)

    /// True if it begins or ends advertising.
    var isAdvertisingEnable: Bool { self == .setAdvertisingEnable || self == .setExtendedAdvertisingEnable }

    /// True if it begins or ends a scan, or sets scan parameters.
    var isScanning: Bool {
        [.setScanParameters, .setScanEnable, .setExtendedScanParameters, .setExtendedScanEnable].contains(self)
    }

    /// True if it sets the events that the controller sends.
    var isEventMask: Bool { self == .setEventMask || self == .setLEEventMask }

    /// True if it concerns LE: its group is 8 (Core Specification 5.3, Vol 4, Part E, 7.8).
    var isLE: Bool { rawValue >> 10 == 0x08 }

    /// Its name in the specification, or its number.
    var description: String {
        switch self {
        case .setEventMask: "Set Event Mask"
        case .reset: "Reset"
        case .readLocalVersion: "Read Local Version Information"
        case .readSupportedCommands: "Read Local Supported Commands"
        case .readAddress: "Read BD_ADDR"
        case .setLEEventMask: "LE Set Event Mask"
        case .readLEFeatures: "LE Read Local Supported Features"
        case .setRandomAddress: "LE Set Random Address"
        case .setAdvertisingParameters: "LE Set Advertising Parameters"
        case .setAdvertisingData: "LE Set Advertising Data"
        case .setScanResponseData: "LE Set Scan Response Data"
        case .setAdvertisingEnable: "LE Set Advertising Enable"
        case .setScanParameters: "LE Set Scan Parameters"
        case .setScanEnable: "LE Set Scan Enable"
        case .setAdvertisingSetAddress: "LE Set Advertising Set Random Address"
        case .setExtendedAdvertisingParameters: "LE Set Extended Advertising Parameters"
        case .setExtendedAdvertisingData: "LE Set Extended Advertising Data"
        case .setExtendedScanResponseData: "LE Set Extended Scan Response Data"
        case .setExtendedAdvertisingEnable: "LE Set Extended Advertising Enable"
        case .readAdvertisingSetCount: "LE Read Number of Supported Advertising Sets"
        case .removeAdvertisingSet: "LE Remove Advertising Set"
        case .clearAdvertisingSets: "LE Clear Advertising Sets"
        case .setExtendedScanParameters: "LE Set Extended Scan Parameters"
        case .setExtendedScanEnable: "LE Set Extended Scan Enable"
        default: "command 0x" + String(rawValue, radix: 16)
        }
    }
}

/// The status of a controller's answer (Core Specification 5.3, Vol 1, Part F).
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

/// The events that a session handles (Core Specification 5.3, Vol 4, Part E, 7.7).
enum HCIEventCode {
    static let commandComplete: UInt8 = 0x0E
    static let commandStatus: UInt8 = 0x0F
    static let hardwareError: UInt8 = 0x10
    static let leMeta: UInt8 = 0x3E

    static let needed = [commandComplete, commandStatus, hardwareError, leMeta]
}

extension RawSpan {
    /// The byte at `offset`. The span checks the bound.
    subscript(offset: Int) -> UInt8 { unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
