/// The common base of services, characteristics and descriptors.
open class CBAttribute: NSObject {
    /// The kind of attribute.
    open var uuid: CBUUID { type }

    private let type: CBUUID

    /// Creates an attribute of this type.
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
    /// The characteristic that has it; nil if none has it so far, or any longer.
    open var characteristic: CBCharacteristic? { owner }

    /// The value; nil if not known.
    open var value: Any? { content }

    /// The characteristic that it was added to.
    weak var owner: CBCharacteristic?

    private let content: Any?

    /// Creates a descriptor from its parts.
    init(uuid: CBUUID, value: Any?) {
        content = value
        super.init(uuid: uuid)
    }
}

/// A descriptor that the app makes.
open class CBMutableDescriptor: CBDescriptor {
    /// Creates a descriptor from its parts.
    public init(type UUID: CBUUID, value: Any?) {
        super.init(uuid: UUID, value: value)
    }
}

/// A central's wish to read or write. None ever comes here; the type lets delegates that mention it compile.
open class CBATTRequest: NSObject {
    /// The central that asks.
    open var central: CBCentral { asker }

    /// The characteristic that is asked for.
    open var characteristic: CBCharacteristic { subject }

    /// From which byte of the value on.
    open var offset: Int { start }

    /// The value that is read or written.
    open var value: Data?

    private let asker: CBCentral
    private let subject: CBCharacteristic
    private let start: Int

    /// Creates a request from its parts.
    init(central: CBCentral, characteristic: CBCharacteristic, offset: Int, value: Data?) {
        asker = central
        subject = characteristic
        start = offset
        self.value = value
        super.init()
    }
}
