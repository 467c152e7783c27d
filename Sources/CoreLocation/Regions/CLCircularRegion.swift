/// A disc on the ground.
///
/// It can be made, compared and archived, so that code that has both kinds of region compiles. It cannot be monitored
/// here: these modules know beacons and never invent a position.
open class CLCircularRegion: CLRegion, @unchecked Sendable {
    // Unchecked like its superclass. All stored properties are constant.

    private let middle: CLLocationCoordinate2D
    private let extent: CLLocationDistance

    /// Creates a region without a name that covers nothing.
    public override init() {
        middle = CLLocationCoordinate2D(latitude: 0, longitude: 0)
        extent = 0
        super.init()
    }

    /// Creates a disc around `center`.
    ///
    /// - Parameters:
    ///   - center: the middle of the disc.
    ///   - radius: the radius in metres.
    ///   - identifier: the app's name for the region.
    public init(center: CLLocationCoordinate2D, radius: CLLocationDistance, identifier: String) {
        middle = center
        extent = radius
        super.init(name: identifier)
    }

    /// Reads a region from an archive.
    ///
    /// - Returns: nil if the archive holds no identifier.
    public required init?(coder: NSCoder) {
        middle = CLLocationCoordinate2D(
            latitude: coder.decodeDouble(forKey: Key.latitude), longitude: coder.decodeDouble(forKey: Key.longitude))
        extent = coder.decodeDouble(forKey: Key.radius)
        super.init(coder: coder)
    }

    /// Writes the region to an archive.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(center.latitude, forKey: Key.latitude)
        coder.encode(center.longitude, forKey: Key.longitude)
        coder.encode(radius, forKey: Key.radius)
    }

    /// The middle.
    open var center: CLLocationCoordinate2D { middle }

    /// From the middle to the edge, in metres.
    open var radius: CLLocationDistance { extent }

    /// Returns true where a place is in the disc. The edge belongs to it.
    open func contains(_ coordinate: CLLocationCoordinate2D) -> Bool {
        center.distance(to: coordinate) <= radius
    }

    override var kind: Kind { .circular }

    override func bareCopy() -> CLRegion { CLCircularRegion(center: center, radius: radius, identifier: identifier) }

    /// The identifier, the middle and the radius.
    open override var description: String {
        "CLCircularRegion (identifier:'\(identifier)', center:\(center.text), radius:\(radius.text(places: 2))m)"
    }

    private enum Key {
        static let latitude = "latitude"
        static let longitude = "longitude"
        static let radius = "radius"
    }
}
