/// What describes a characteristic.
open class CBDescriptor: CBAttribute {
    /// The characteristic that has it; nil if none does yet, or no longer.
    open var characteristic: CBCharacteristic? { owner }

    /// The value; nil if not known.
    open var value: Any? { content }

    /// The characteristic that took it.
    weak var owner: CBCharacteristic?

    private let content: Any?

    /// A descriptor from its parts.
    init(uuid: CBUUID, value: Any?) {
        content = value
        super.init(uuid: uuid)
    }
}
