/// A geographic coordinate in WGS 84.
///
/// As in Apple's SDK, it is neither `Equatable` nor `Codable`, so that code that adds these conformances compiles.
public struct CLLocationCoordinate2D: Sendable, BitwiseCopyable {
    /// Degrees north of the equator, -90 to 90.
    public var latitude: CLLocationDegrees

    /// Degrees east of Greenwich, -180 to 180.
    public var longitude: CLLocationDegrees

    /// Creates the coordinate at latitude and longitude 0.
    public init() {
        self.init(latitude: 0, longitude: 0)
    }

    /// Creates a coordinate without checking the values.
    public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// A coordinate that ``CLLocationCoordinate2DIsValid(_:)`` rejects.
public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(latitude: -180, longitude: -180)

/// Returns true if both values are in range.
public func CLLocationCoordinate2DIsValid(_ coord: CLLocationCoordinate2D) -> Bool {
    (-90...90).contains(coord.latitude) && (-180...180).contains(coord.longitude)
}

/// Returns a coordinate.
public func CLLocationCoordinate2DMake(
    _ latitude: CLLocationDegrees, _ longitude: CLLocationDegrees
) -> CLLocationCoordinate2D {
    CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
}

extension CLLocationCoordinate2D {
    /// Returns the distance along a sphere with the earth's mean radius, in meters. It differs by up to 0.6 % from the
    /// distance on the ellipsoid.
    func distance(to other: CLLocationCoordinate2D) -> CLLocationDistance {
        let radians = Double.pi / 180
        let north = sin((other.latitude - latitude) * radians / 2)
        let east = sin((other.longitude - longitude) * radians / 2)
        let square = north * north + cos(latitude * radians) * cos(other.latitude * radians) * east * east
        return 2 * 6_371_008.8 * asin(min(1, square.squareRoot()))
    }

    /// Both values with their signs, between angle brackets, as in Apple's logs.
    var text: String { "<\(latitude.text(places: 8, signed: true)),\(longitude.text(places: 8, signed: true))>" }
}
