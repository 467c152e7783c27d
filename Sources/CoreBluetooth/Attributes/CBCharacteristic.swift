/// A value of a service, and what may be done with it.
open class CBCharacteristic: CBAttribute {
    /// The service that has it; nil if none has it so far, or any longer.
    open var service: CBService? { owner }

    /// The operations that it allows.
    open var properties: CBCharacteristicProperties { [] }

    /// The value; nil if not known.
    open var value: Data? { nil }

    /// The descriptors.
    open var descriptors: [CBDescriptor]? { nil }

    /// A Boolean value that says that notifications were asked for.
    open var isNotifying: Bool { false }

    /// A Boolean value that says that the value is broadcast; it never is.
    @available(*, deprecated, message: "Nothing takes its place.")
    open var isBroadcasted: Bool { false }

    /// The service that it was added to.
    weak var owner: CBService?
}

/// A characteristic that the app makes. It holds what it is given; no central can reach it here.
open class CBMutableCharacteristic: CBCharacteristic {
    /// The operations that centrals may use on the value.
    open var permissions: CBAttributePermissions

    /// The centrals that asked for notifications: none ever does.
    open var subscribedCentrals: [CBCentral]? { nil }

    /// The operations that it allows.
    open override var properties: CBCharacteristicProperties {
        get { allowed }
        set { allowed = newValue }
    }

    /// The value. Nil for one that is asked for each time.
    open override var value: Data? {
        get { content }
        set { content = newValue }
    }

    /// The descriptors. Each learns that this is its characteristic.
    open override var descriptors: [CBDescriptor]? {
        get { parts }
        set {
            for part in parts ?? [] { part.owner = nil }
            parts = newValue
            for part in newValue ?? [] { part.owner = self }
        }
    }

    private var allowed: CBCharacteristicProperties
    private var content: Data?
    private var parts: [CBDescriptor]?

    /// Creates a characteristic from its parts.
    public init(
        type UUID: CBUUID, properties: CBCharacteristicProperties, value: Data?, permissions: CBAttributePermissions
    ) {
        allowed = properties
        content = value
        self.permissions = permissions
        super.init(uuid: UUID)
    }
}

/// The operations that a characteristic allows. The first eight are the bits of the Bluetooth specification.
public struct CBCharacteristicProperties: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Creates properties from their bits.
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

    /// Changes are notified, unacknowledged.
    public static let notify = CBCharacteristicProperties(rawValue: 0x10)

    /// Changes are indicated, and acknowledged.
    public static let indicate = CBCharacteristicProperties(rawValue: 0x20)

    /// The value may be written with a signature, unanswered.
    public static let authenticatedSignedWrites = CBCharacteristicProperties(rawValue: 0x40)

    /// A descriptor holds further properties.
    public static let extendedProperties = CBCharacteristicProperties(rawValue: 0x80)

    /// Changes are notified to trusted devices only, unacknowledged.
    public static let notifyEncryptionRequired = CBCharacteristicProperties(rawValue: 0x100)

    /// Changes are indicated to trusted devices only, and acknowledged.
    public static let indicateEncryptionRequired = CBCharacteristicProperties(rawValue: 0x200)
}

/// The kinds of writing.
public enum CBCharacteristicWriteType: Int, Sendable, BitwiseCopyable {
    /// Writing with an answer.
    case withResponse = 0

    /// Writing without an answer.
    case withoutResponse = 1
}
