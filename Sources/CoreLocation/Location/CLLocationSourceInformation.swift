/// Who told a place.
open class CLLocationSourceInformation: NSObject, NSCopying, NSSecureCoding {
    /// Whether software made the place up.
    open var isSimulatedBySoftware: Bool { software }

    /// Whether an accessory told it.
    open var isProducedByAccessory: Bool { accessory }

    private let software: Bool
    private let accessory: Bool

    /// A source from its two properties.
    public init(softwareSimulationState isSoftware: Bool, andExternalAccessoryState isAccessory: Bool) {
        software = isSoftware
        accessory = isAccessory
        super.init()
    }

    /// Reads a source from an archive.
    public required init?(coder: NSCoder) {
        software = coder.decodeBool(forKey: "isSimulatedBySoftware")
        accessory = coder.decodeBool(forKey: "isProducedByAccessory")
        super.init()
    }

    /// True.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the source to an archive.
    open func encode(with coder: NSCoder) {
        coder.encode(isSimulatedBySoftware, forKey: "isSimulatedBySoftware")
        coder.encode(isProducedByAccessory, forKey: "isProducedByAccessory")
    }

    /// The source itself, since it never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}
