/// A characteristic that the app makes. It holds what it is given; no central can reach it here.
open class CBMutableCharacteristic: CBCharacteristic {
    /// What centrals may do with the value.
    open var permissions: CBAttributePermissions

    /// The centrals that asked for notifications: none ever does.
    open var subscribedCentrals: [CBCentral]? { nil }

    /// What may be done with it.
    open override var properties: CBCharacteristicProperties {
        get { allowed }
        set { allowed = newValue }
    }

    /// The value. Nil for one that is asked for each time.
    open override var value: Data? {
        get { content }
        set { content = newValue }
    }

    /// What describes it. Each learns that this is its characteristic.
    open override var descriptors: [CBDescriptor]? {
        get { parts }
        set {
            for part in parts ?? [] { part.owner = nil }
            parts = newValue
            for part in newValue ?? [] { part.owner = self }
        }
    }

    private var allowed: CBCharacteristicProperties
    private var content: Data?
    private var parts: [CBDescriptor]?

    /// A characteristic from its parts.
    public init(
        type UUID: CBUUID, properties: CBCharacteristicProperties, value: Data?, permissions: CBAttributePermissions
    ) {
        allowed = properties
        content = value
        self.permissions = permissions
        super.init(uuid: UUID)
    }
}
