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

    /// A service of this type, without characteristics.
    public init(type UUID: CBUUID, primary isPrimary: Bool) {
        super.init(uuid: UUID, primary: isPrimary)
    }
}
