/// What an HCI command asks for, by the numbers of Core Specification 5.3, Vol 4, Part E, 7: the group in the upper six
/// bits, the command in the lower ten.
struct HCIOpcode: RawRepresentable, Hashable, CustomStringConvertible {
    let rawValue: UInt16

    static let reset = HCIOpcode(rawValue: 0x0C03)
    static let readLocalVersion = HCIOpcode(rawValue: 0x1001)
    static let readSupportedCommands = HCIOpcode(rawValue: 0x1002)
    static let readAddress = HCIOpcode(rawValue: 0x1009)
    static let readLEFeatures = HCIOpcode(rawValue: 0x2003)
    static let setRandomAddress = HCIOpcode(rawValue: 0x2005)
    static let setAdvertisingParameters = HCIOpcode(rawValue: 0x2006)
    static let setAdvertisingData = HCIOpcode(rawValue: 0x2008)
    static let setAdvertisingEnable = HCIOpcode(rawValue: 0x200A)
    static let setScanParameters = HCIOpcode(rawValue: 0x200B)
    static let setScanEnable = HCIOpcode(rawValue: 0x200C)
    static let setAdvertisingSetAddress = HCIOpcode(rawValue: 0x2035)
    static let setExtendedAdvertisingParameters = HCIOpcode(rawValue: 0x2036)
    static let setExtendedAdvertisingData = HCIOpcode(rawValue: 0x2037)
    static let setExtendedAdvertisingEnable = HCIOpcode(rawValue: 0x2039)
    static let readAdvertisingSetCount = HCIOpcode(rawValue: 0x203B)
    static let removeAdvertisingSet = HCIOpcode(rawValue: 0x203C)
    static let clearAdvertisingSets = HCIOpcode(rawValue: 0x203D)
    static let setExtendedScanParameters = HCIOpcode(rawValue: 0x2041)
    static let setExtendedScanEnable = HCIOpcode(rawValue: 0x2042)

    /// Whether it begins or ends advertising.
    var isAdvertisingEnable: Bool { self == .setAdvertisingEnable || self == .setExtendedAdvertisingEnable }

    /// Whether it begins or ends a scan, or says how to scan.
    var isScanning: Bool {
        [.setScanParameters, .setScanEnable, .setExtendedScanParameters, .setExtendedScanEnable].contains(self)
    }

    /// Whether it concerns LE: its group is 8 (Core Specification 5.3, Vol 4, Part E, 7.8).
    var isLE: Bool { rawValue >> 10 == 0x08 }

    /// Its name in the specification, or its number.
    var description: String {
        switch self {
        case .reset: "Reset"
        case .readLocalVersion: "Read Local Version Information"
        case .readSupportedCommands: "Read Local Supported Commands"
        case .readAddress: "Read BD_ADDR"
        case .readLEFeatures: "LE Read Local Supported Features"
        case .setRandomAddress: "LE Set Random Address"
        case .setAdvertisingParameters: "LE Set Advertising Parameters"
        case .setAdvertisingData: "LE Set Advertising Data"
        case .setAdvertisingEnable: "LE Set Advertising Enable"
        case .setScanParameters: "LE Set Scan Parameters"
        case .setScanEnable: "LE Set Scan Enable"
        case .setAdvertisingSetAddress: "LE Set Advertising Set Random Address"
        case .setExtendedAdvertisingParameters: "LE Set Extended Advertising Parameters"
        case .setExtendedAdvertisingData: "LE Set Extended Advertising Data"
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
