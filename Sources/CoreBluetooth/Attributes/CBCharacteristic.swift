/// A value of a service and its permitted operations.
open class CBCharacteristic: CBAttribute {
    /// The service of the characteristic; nil while it has none.
    open var service: CBService? { owner }

    /// The operations that it allows.
    open var properties: CBCharacteristicProperties { [] }

    /// The value; nil if unknown.
    open var value: Data? { nil }

    /// The descriptors.
    open var descriptors: [CBDescriptor]? { nil }

    /// A Boolean value indicating whether notifications are enabled.
    open var isNotifying: Bool { false }

    /// A Boolean value indicating whether the value is broadcast. Always false.
    @available(*, deprecated, message: "There is no replacement.")
    open var isBroadcasted: Bool { false }

    /// The service to which the characteristic was added.
    weak var owner: CBService?
}

/// A characteristic that the app creates. It stores its values, but no central can reach it here.
open class CBMutableCharacteristic: CBCharacteristic {
    /// The operations that centrals may use on the value.
    open var permissions: CBAttributePermissions

    /// The centrals that subscribed to notifications. Always nil here.
    open var subscribedCentrals: [CBCentral]? { nil }

    /// The operations that it allows.
    open override var properties: CBCharacteristicProperties {
        get { allowed }
        set { allowed = newValue }
    }

    /// The value; nil for a value that is requested each time.
    open override var value: Data? {
        get { content }
        set { content = newValue }
    }

    /// The descriptors, which are linked to this characteristic.
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

    /// Creates a characteristic.
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

    /// The value may be written without a response.
    public static let writeWithoutResponse = CBCharacteristicProperties(rawValue: 0x04)

    /// The value may be written.
    public static let write = CBCharacteristicProperties(rawValue: 0x08)

    /// Changes are notified without acknowledgement.
    public static let notify = CBCharacteristicProperties(rawValue: 0x10)

    /// Changes are indicated with acknowledgement.
    public static let indicate = CBCharacteristicProperties(rawValue: 0x20)

    /// The value may be written with a signature, without a response.
    public static let authenticatedSignedWrites = CBCharacteristicProperties(rawValue: 0x40)

    /// A descriptor has further properties.
    public static let extendedProperties = CBCharacteristicProperties(rawValue: 0x80)

    /// Changes are notified to trusted devices only, without acknowledgement.
    public static let notifyEncryptionRequired = CBCharacteristicProperties(rawValue: 0x100)

    /// Changes are indicated to trusted devices only, with acknowledgement.
    public static let indicateEncryptionRequired = CBCharacteristicProperties(rawValue: 0x200)
}

/// The types of write operations.
public enum CBCharacteristicWriteType: Int, Sendable, BitwiseCopyable {
    /// A write with a response.
    case withResponse = 0

    /// A write without a response.
    case withoutResponse = 1
}
