/// The common base of services, characteristics and descriptors.
open class CBAttribute: NSObject {
    /// The type of the attribute.
    open var uuid: CBUUID { type }

    private let type: CBUUID

    /// Creates an attribute with a type.
    init(uuid: CBUUID) {
        type = uuid
        super.init()
    }
}

/// The operations that centrals may use on an attribute.
public struct CBAttributePermissions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Creates permissions from their bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Read it.
    public static let readable = CBAttributePermissions(rawValue: 0x01)

    /// Write it.
    public static let writeable = CBAttributePermissions(rawValue: 0x02)

    /// Read it, if trusted.
    public static let readEncryptionRequired = CBAttributePermissions(rawValue: 0x04)

    /// Write it, if trusted.
    public static let writeEncryptionRequired = CBAttributePermissions(rawValue: 0x08)
}

/// A description of a characteristic.
open class CBDescriptor: CBAttribute {
    /// The characteristic of the descriptor; nil while it has none.
    open var characteristic: CBCharacteristic? { owner }

    /// The value; nil if unknown.
    open var value: Any? { content }

    /// The characteristic to which the descriptor was added.
    weak var owner: CBCharacteristic?

    private let content: Any?

    /// Creates a descriptor.
    init(uuid: CBUUID, value: Any?) {
        content = value
        super.init(uuid: uuid)
    }
}

/// A descriptor that the app creates.
open class CBMutableDescriptor: CBDescriptor {
    /// Creates a descriptor.
    public init(type UUID: CBUUID, value: Any?) {
        super.init(uuid: UUID, value: value)
    }
}

/// A central's request to read or write. None ever arrives here; the type exists so that delegates that use it compile.
open class CBATTRequest: NSObject {
    /// The requesting central.
    open var central: CBCentral { asker }

    /// The requested characteristic.
    open var characteristic: CBCharacteristic { subject }

    /// The offset of the first requested byte in the value.
    open var offset: Int { start }

    /// The value to read or write.
    open var value: Data?

    private let asker: CBCentral
    private let subject: CBCharacteristic
    private let start: Int

    /// Creates a request.
    init(central: CBCentral, characteristic: CBCharacteristic, offset: Int, value: Data?) {
        asker = central
        subject = characteristic
        start = offset
        self.value = value
        super.init()
    }
}
