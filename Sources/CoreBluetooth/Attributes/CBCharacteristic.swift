/// A value of a service, and what may be done with it.
open class CBCharacteristic: CBAttribute {
    /// The service that has it; nil if none does yet, or no longer.
    open var service: CBService? { owner }

    /// What may be done with it.
    open var properties: CBCharacteristicProperties { [] }

    /// The value; nil if not known.
    open var value: Data? { nil }

    /// What describes it.
    open var descriptors: [CBDescriptor]? { nil }

    /// Whether notifications were asked for.
    open var isNotifying: Bool { false }

    /// The service that took it.
    weak var owner: CBService?
}
