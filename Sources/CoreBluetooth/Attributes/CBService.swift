/// A service of a device: a group of characteristics.
open class CBService: CBAttribute {
    /// The device that has the service. Always nil: no other device is met here.
    open var peripheral: CBPeripheral? { nil }

    /// Whether it is a service of its own, not one that only serves another.
    open var isPrimary: Bool { primary }

    /// The services that it takes in.
    open var includedServices: [CBService]? { nil }

    /// The characteristics of the service.
    open var characteristics: [CBCharacteristic]? { nil }

    private let primary: Bool

    /// A service of this type.
    init(uuid: CBUUID, primary: Bool) {
        self.primary = primary
        super.init(uuid: uuid)
    }
}
