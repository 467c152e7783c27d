/// A device on the other side. None is ever met here: these modules advertise and listen, they do not connect.
open class CBPeer: NSObject, NSCopying {
    /// A name for the device that holds on this machine.
    open var identifier: UUID { name }

    private let name: UUID

    /// A device of this name.
    init(identifier: UUID) {
        name = identifier
        super.init()
    }

    /// The device itself: there is one object for each.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}
