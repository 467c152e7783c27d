/// A service of a device: a group of characteristics.
open class CBService: CBAttribute {
    /// The device of the service. Always nil: no other device connects here.
    open var peripheral: CBPeripheral? { nil }

    /// A Boolean value indicating whether the service is primary, rather than only used by another service.
    open var isPrimary: Bool { primary }

    /// The included services.
    open var includedServices: [CBService]? { nil }

    /// The characteristics of the service.
    open var characteristics: [CBCharacteristic]? { nil }

    private let primary: Bool

    /// Creates a service with a type.
    init(uuid: CBUUID, primary: Bool) {
        self.primary = primary
        super.init(uuid: uuid)
    }
}

/// A service that the app creates. It stores its values, but no central can reach it here.
open class CBMutableService: CBService {
    /// The included services.
    open override var includedServices: [CBService]? {
        get { included }
        set { included = newValue }
    }

    /// The characteristics of the service, which are linked to this service.
    open override var characteristics: [CBCharacteristic]? {
        get { parts }
        set {
            for part in parts ?? [] { part.owner = nil }
            parts = newValue
            for part in newValue ?? [] { part.owner = self }
        }
    }

    private var included: [CBService]?
    private var parts: [CBCharacteristic]?

    /// Creates a service with a type and without characteristics.
    public init(type UUID: CBUUID, primary isPrimary: Bool) {
        super.init(uuid: UUID, primary: isPrimary)
    }
}
