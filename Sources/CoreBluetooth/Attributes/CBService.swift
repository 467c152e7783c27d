/// A service of a device: a group of characteristics.
open class CBService: CBAttribute {
    /// The device that has the service. Always nil: no other device is met here.
    open var peripheral: CBPeripheral? { nil }

    /// A Boolean value that says that it is a service of its own, not one that only serves another.
    open var isPrimary: Bool { primary }

    /// The services that it takes in.
    open var includedServices: [CBService]? { nil }

    /// The characteristics of the service.
    open var characteristics: [CBCharacteristic]? { nil }

    private let primary: Bool

    /// Creates a service of this type.
    init(uuid: CBUUID, primary: Bool) {
        self.primary = primary
        super.init(uuid: uuid)
    }
}

/// A service that the app makes. It holds what it is given; no central can reach it here.
open class CBMutableService: CBService {
    /// The services that it takes in.
    open override var includedServices: [CBService]? {
        get { included }
        set { included = newValue }
    }

    /// The characteristics of the service. Each learns that this is its service.
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

    /// Creates a service of this type, without characteristics.
    public init(type UUID: CBUUID, primary isPrimary: Bool) {
        super.init(uuid: UUID, primary: isPrimary)
    }
}
