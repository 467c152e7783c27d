/// A descriptor that the app makes.
open class CBMutableDescriptor: CBDescriptor {
    /// A descriptor from its parts.
    public init(type UUID: CBUUID, value: Any?) {
        super.init(uuid: UUID, value: value)
    }
}
