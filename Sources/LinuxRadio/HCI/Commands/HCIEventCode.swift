/// The events that a session looks at (Core Specification 5.3, Vol 4, Part E, 7.7).
enum HCIEventCode {
    static let commandComplete: UInt8 = 0x0E
    static let commandStatus: UInt8 = 0x0F
    static let hardwareError: UInt8 = 0x10
    static let leMeta: UInt8 = 0x3E

    static let needed = [commandComplete, commandStatus, hardwareError, leMeta]
}
