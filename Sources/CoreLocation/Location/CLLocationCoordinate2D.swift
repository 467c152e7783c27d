/// A place on the globe, in WGS 84.
///
/// As with Apple's SDK it is neither `Equatable` nor `Codable`, so that code which adds these compiles.
public struct CLLocationCoordinate2D: Sendable, BitwiseCopyable {
    /// Degrees north of the equator, -90 to 90.
    public var latitude: CLLocationDegrees

    /// Degrees east of Greenwich, -180 to 180.
    public var longitude: CLLocationDegrees

    /// Creates the place of no degrees north and no degrees east.
    public init() {
        self.init(latitude: 0, longitude: 0)
    }

    /// Creates a place from its degrees, which are not checked.
    public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// A place that ``CLLocationCoordinate2DIsValid(_:)`` refuses.
public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(latitude: -180, longitude: -180)

/// Returns true where both degrees are in their range.
public func CLLocationCoordinate2DIsValid(_ coord: CLLocationCoordinate2D) -> Bool {
    (-90...90).contains(coord.latitude) && (-180...180).contains(coord.longitude)
}

/// Returns a place from its degrees.
public func CLLocationCoordinate2DMake(
    _ latitude: CLLocationDegrees, _ longitude: CLLocationDegrees
) -> CLLocationCoordinate2D {
    CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
}

extension CLLocationCoordinate2D {
    /// Returns the way along a sphere of the earth's mean radius, in metres. On the ellipsoid it is up to 0.6 %
    /// different.
    func distance(to other: CLLocationCoordinate2D) -> CLLocationDistance {
        let radians = Double.pi / 180
        let north = sin((other.latitude - latitude) * radians / 2)
        let east = sin((other.longitude - longitude) * radians / 2)
        let square = north * north + cos(latitude * radians) * cos(other.latitude * radians) * east * east
        return 2 * 6_371_008.8 * asin(min(1, square.squareRoot()))
    }

    /// Both degrees with their signs, between angle brackets, as Apple's logs have them.
    var text: String { "<\(latitude.text(places: 8, signed: true)),\(longitude.text(places: 8, signed: true))>" }
}
