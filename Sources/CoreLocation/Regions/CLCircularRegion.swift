/// A circular area on the ground.
///
/// It can be created, compared and archived, so that code that uses both kinds of region compiles. It cannot be
/// monitored here: these modules know beacons, and never invent a position.
open class CLCircularRegion: CLRegion, @unchecked Sendable {
    // Unchecked like its superclass. All stored properties are constant.

    private let middle: CLLocationCoordinate2D
    private let extent: CLLocationDistance

    /// Creates a region without an identifier that covers nothing.
    public override init() {
        middle = CLLocationCoordinate2D(latitude: 0, longitude: 0)
        extent = 0
        super.init()
    }

    /// Creates a circle around `center`.
    ///
    /// - Parameters:
    ///   - center: the center of the circle.
    ///   - radius: the radius in meters.
    ///   - identifier: the app's identifier for the region.
    public init(center: CLLocationCoordinate2D, radius: CLLocationDistance, identifier: String) {
        middle = center
        extent = radius
        super.init(name: identifier)
    }

    /// Decodes a region.
    ///
    /// - Returns: nil if the archive has no identifier.
    public required init?(coder: NSCoder) {
        middle = CLLocationCoordinate2D(
            latitude: coder.decodeDouble(forKey: Key.latitude), longitude: coder.decodeDouble(forKey: Key.longitude))
        extent = coder.decodeDouble(forKey: Key.radius)
        super.init(coder: coder)
    }

    /// Encodes the region.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(center.latitude, forKey: Key.latitude)
        coder.encode(center.longitude, forKey: Key.longitude)
        coder.encode(radius, forKey: Key.radius)
    }

    /// The center of the circle.
    open var center: CLLocationCoordinate2D { middle }

    /// The radius in meters.
    open var radius: CLLocationDistance { extent }

    /// Returns true if a coordinate is in the circle or on its edge.
    open func contains(_ coordinate: CLLocationCoordinate2D) -> Bool {
        center.distance(to: coordinate) <= radius
    }

    override var kind: Kind { .circular }

    override func bareCopy() -> CLRegion { CLCircularRegion(center: center, radius: radius, identifier: identifier) }

    /// The identifier, the center and the radius.
    open override var description: String {
        "CLCircularRegion (identifier:'\(identifier)', center:\(center.text), radius:\(radius.text(places: 2))m)"
    }

    private enum Key {
        static let latitude = "latitude"
        static let longitude = "longitude"
        static let radius = "radius"
    }
}
