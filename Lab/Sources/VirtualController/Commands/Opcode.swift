/// The number of a command: six bits of group and ten of command (Core Specification 5.3, Vol 4, Part E, 5.4.1).
public struct Opcode: Hashable, Sendable, RawRepresentable {
    /// The first two bytes of a command, as a number.
    public let rawValue: UInt16

    /// Creates an opcode from its number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    // Link control, 7.1.
    static let disconnect = Opcode(rawValue: 0x0406)
    static let readRemoteVersion = Opcode(rawValue: 0x041D)

    // Controller and baseband, 7.3.
    static let setEventMask = Opcode(rawValue: 0x0C01)
    static let reset = Opcode(rawValue: 0x0C03)

    // Informational, 7.4.
    static let readLocalVersion = Opcode(rawValue: 0x1001)
    static let readLocalCommands = Opcode(rawValue: 0x1002)
    static let readLocalFeatures = Opcode(rawValue: 0x1003)
    static let readBufferSize = Opcode(rawValue: 0x1005)
    static let readAddress = Opcode(rawValue: 0x1009)

    // LE, 7.8.
    static let setLEEventMask = Opcode(rawValue: 0x2001)
    static let readLEBufferSize = Opcode(rawValue: 0x2002)
    static let readLEFeatures = Opcode(rawValue: 0x2003)
    static let setRandomAddress = Opcode(rawValue: 0x2005)
    static let setAdvertisingParameters = Opcode(rawValue: 0x2006)
    static let readAdvertisingPower = Opcode(rawValue: 0x2007)
    static let setAdvertisingData = Opcode(rawValue: 0x2008)
    static let setScanResponseData = Opcode(rawValue: 0x2009)
    static let setAdvertisingEnable = Opcode(rawValue: 0x200A)
    static let setScanParameters = Opcode(rawValue: 0x200B)
    static let setScanEnable = Opcode(rawValue: 0x200C)
    static let createConnection = Opcode(rawValue: 0x200D)
    static let cancelConnection = Opcode(rawValue: 0x200E)
    static let readAcceptListSize = Opcode(rawValue: 0x200F)
    static let clearAcceptList = Opcode(rawValue: 0x2010)
    static let addToAcceptList = Opcode(rawValue: 0x2011)
    static let removeFromAcceptList = Opcode(rawValue: 0x2012)
    static let encrypt = Opcode(rawValue: 0x2017)
    static let random = Opcode(rawValue: 0x2018)
    static let readSupportedStates = Opcode(rawValue: 0x201C)
    static let setDefaultPHY = Opcode(rawValue: 0x2031)
    static let setAdvertisingSetRandomAddress = Opcode(rawValue: 0x2035)
    static let setExtendedAdvertisingParameters = Opcode(rawValue: 0x2036)
    static let setExtendedAdvertisingData = Opcode(rawValue: 0x2037)
    static let setExtendedScanResponseData = Opcode(rawValue: 0x2038)
    static let setExtendedAdvertisingEnable = Opcode(rawValue: 0x2039)
    static let readMaximumAdvertisingDataLength = Opcode(rawValue: 0x203A)
    static let readNumberOfAdvertisingSets = Opcode(rawValue: 0x203B)
    static let removeAdvertisingSet = Opcode(rawValue: 0x203C)
    static let clearAdvertisingSets = Opcode(rawValue: 0x203D)
    static let setExtendedScanParameters = Opcode(rawValue: 0x2041)
    static let setExtendedScanEnable = Opcode(rawValue: 0x2042)
    static let extendedCreateConnection = Opcode(rawValue: 0x2043)
}
