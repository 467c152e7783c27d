/// A remote device.
open class CBPeer: NSObject, NSCopying {
    /// The device's identifier on this machine.
    open var identifier: UUID { name }

    private let name: UUID

    /// Creates a device with an identifier.
    init(identifier: UUID) {
        name = identifier
        super.init()
    }

    /// Returns the device itself: each device has one object.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// A device that reads from this one. None ever connects here.
open class CBCentral: CBPeer {
    /// The maximum number of bytes in a notification: 20, which fit into the smallest packet.
    open var maximumUpdateValueLength: Int { 20 }
}

/// A channel to another device. None is ever opened here, so that all properties except the number are nil.
open class CBL2CAPChannel: NSObject {
    /// The remote device.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    open var peer: CBPeer! { nil }

    /// The stream of incoming bytes.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    open var inputStream: InputStream! { nil }

    /// The stream of outgoing bytes.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    open var outputStream: OutputStream! { nil }

    /// The channel's number.
    open var psm: CBL2CAPPSM { 0 }

    /// Creates a channel that is not open, for test doubles.
    public override init() { super.init() }
}

/// The number of an L2CAP channel.
public typealias CBL2CAPPSM = UInt16
