/// What may be done with a characteristic. The first eight are the bits of the Bluetooth specification.
public struct CBCharacteristicProperties: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Properties from their bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// The value may be broadcast.
    public static let broadcast = CBCharacteristicProperties(rawValue: 0x01)

    /// The value may be read.
    public static let read = CBCharacteristicProperties(rawValue: 0x02)

    /// The value may be written, unanswered.
    public static let writeWithoutResponse = CBCharacteristicProperties(rawValue: 0x04)

    /// The value may be written.
    public static let write = CBCharacteristicProperties(rawValue: 0x08)

    /// Changes are told, unacknowledged.
    public static let notify = CBCharacteristicProperties(rawValue: 0x10)

    /// Changes are told and acknowledged.
    public static let indicate = CBCharacteristicProperties(rawValue: 0x20)

    /// The value may be written with a signature, unanswered.
    public static let authenticatedSignedWrites = CBCharacteristicProperties(rawValue: 0x40)

    /// A descriptor holds further properties.
    public static let extendedProperties = CBCharacteristicProperties(rawValue: 0x80)

    /// Only trusted devices are told of changes, unacknowledged.
    public static let notifyEncryptionRequired = CBCharacteristicProperties(rawValue: 0x100)

    /// Only trusted devices are told of changes, acknowledged.
    public static let indicateEncryptionRequired = CBCharacteristicProperties(rawValue: 0x200)
}
