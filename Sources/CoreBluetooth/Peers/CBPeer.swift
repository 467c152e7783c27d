/// A device on the other side.
open class CBPeer: NSObject, NSCopying {
    /// A name for the device that holds on this machine.
    open var identifier: UUID { name }

    private let name: UUID

    /// Creates a device of this name.
    init(identifier: UUID) {
        name = identifier
        super.init()
    }

    /// Returns the device itself: there is one object for each.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// A device that reads from this one. None is ever met here.
open class CBCentral: CBPeer {
    /// The most bytes in one notification: 20, what the smallest packet leaves.
    open var maximumUpdateValueLength: Int { 20 }
}

/// A channel to another device. None is ever opened here, so that all but its number is nil.
open class CBL2CAPChannel: NSObject {
    /// The device on the other side.
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

    /// Creates a channel that is not open, as test doubles do.
    public override init() { super.init() }
}

/// The number of an L2CAP channel.
public typealias CBL2CAPPSM = UInt16
