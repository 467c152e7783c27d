/// A storey of a building. Nothing here makes one.
open class CLFloor: NSObject, NSCopying, NSSecureCoding {
    /// The number of the storey: 0 is the ground floor, below it are negative ones.
    open var level: Int { storey }

    private let storey: Int

    /// The ground floor.
    public override init() {
        storey = 0
        super.init()
    }

    /// Reads a storey from an archive.
    public required init?(coder: NSCoder) {
        storey = coder.decodeInteger(forKey: "level")
        super.init()
    }

    /// True.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the storey to an archive.
    open func encode(with coder: NSCoder) {
        coder.encode(level, forKey: "level")
    }

    /// The storey itself, since it never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}
