/// A place at a time, and how well it is known.
///
/// Nothing in these modules makes one: they know beacons, not positions. Apps may make their own.
open class CLLocation: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Unchecked, since the superclass is not known to be Sendable. All stored properties are constant.

    private let place: CLLocationCoordinate2D
    private let height: CLLocationDistance
    private let horizontal: CLLocationAccuracy
    private let vertical: CLLocationAccuracy
    private let heading: CLLocationDirection
    private let headingAccuracy: CLLocationDirectionAccuracy
    private let velocity: CLLocationSpeed
    private let velocityAccuracy: CLLocationSpeedAccuracy
    private let time: Date
    private let source: CLLocationSourceInformation?

    /// The coordinate.
    open var coordinate: CLLocationCoordinate2D { place }

    /// The height above sea level, in metres.
    open var altitude: CLLocationDistance { height }

    /// The height above the ellipsoid of WGS 84, in metres. Always 0: no initializer takes one.
    open var ellipsoidalAltitude: CLLocationDistance { 0 }

    /// The radius around ``coordinate`` in metres; negative if that is not known.
    open var horizontalAccuracy: CLLocationAccuracy { horizontal }

    /// The possible error of ``altitude``, in metres; not positive if it is not known.
    open var verticalAccuracy: CLLocationAccuracy { vertical }

    /// The direction of movement, in degrees from north; negative if not known.
    open var course: CLLocationDirection { heading }

    /// The possible error of ``course``, in degrees; negative if it is not known.
    open var courseAccuracy: CLLocationDirectionAccuracy { headingAccuracy }

    /// The speed of the device, in metres per second; negative if not known.
    open var speed: CLLocationSpeed { velocity }

    /// The possible error of ``speed``, in metres per second; negative if it is not known.
    open var speedAccuracy: CLLocationSpeedAccuracy { velocityAccuracy }

    /// The time at which the device was there.
    open var timestamp: Date { time }

    /// The storey. Always nil: nothing here knows it.
    open var floor: CLFloor? { nil }

    /// The source of the place; nil if the maker of the object did not say.
    open var sourceInformation: CLLocationSourceInformation? { source }

    /// Creates a place at latitude and longitude 0, without further values.
    public override convenience init() { self.init(latitude: 0, longitude: 0) }

    /// Creates a place now: height and horizontal accuracy 0, and -1 for what is not known, the vertical accuracy,
    /// course and speed.
    public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        place = CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
        height = 0
        horizontal = 0
        vertical = -1
        heading = -1
        headingAccuracy = -1
        velocity = -1
        velocityAccuracy = -1
        time = Date()
        source = nil
        super.init()
    }

    /// Creates a place of which neither course nor speed is known.
    public init(
        coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
        horizontalAccuracy hAccuracy: CLLocationAccuracy,
        verticalAccuracy vAccuracy: CLLocationAccuracy, timestamp: Date
    ) {
        place = coordinate
        height = altitude
        horizontal = hAccuracy
        vertical = vAccuracy
        heading = -1
        headingAccuracy = -1
        velocity = -1
        velocityAccuracy = -1
        time = timestamp
        source = nil
        super.init()
    }

    /// Creates a place with course and speed, of unknown accuracy.
    public init(
        coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
        horizontalAccuracy hAccuracy: CLLocationAccuracy,
        verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection, speed: CLLocationSpeed,
        timestamp: Date
    ) {
        place = coordinate
        height = altitude
        horizontal = hAccuracy
        vertical = vAccuracy
        heading = course
        headingAccuracy = -1
        velocity = speed
        velocityAccuracy = -1
        time = timestamp
        source = nil
        super.init()
    }

    /// Creates a place with all that may be known.
    public init(
        coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
        horizontalAccuracy hAccuracy: CLLocationAccuracy,
        verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
        courseAccuracy: CLLocationDirectionAccuracy, speed: CLLocationSpeed, speedAccuracy: CLLocationSpeedAccuracy,
        timestamp: Date
    ) {
        place = coordinate
        height = altitude
        horizontal = hAccuracy
        vertical = vAccuracy
        heading = course
        headingAccuracy = courseAccuracy
        velocity = speed
        velocityAccuracy = speedAccuracy
        time = timestamp
        source = nil
        super.init()
    }

    /// Creates a place with all that may be known, and its source.
    public init(
        coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
        horizontalAccuracy hAccuracy: CLLocationAccuracy,
        verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
        courseAccuracy: CLLocationDirectionAccuracy, speed: CLLocationSpeed, speedAccuracy: CLLocationSpeedAccuracy,
        timestamp: Date, sourceInfo: CLLocationSourceInformation
    ) {
        place = coordinate
        height = altitude
        horizontal = hAccuracy
        vertical = vAccuracy
        heading = course
        headingAccuracy = courseAccuracy
        velocity = speed
        velocityAccuracy = speedAccuracy
        time = timestamp
        source = sourceInfo
        super.init()
    }

    /// Reads a place from an archive.
    ///
    /// - Returns: nil if the archive holds no time.
    public required init?(coder: NSCoder) {
        guard let timestamp = coder.decodeObjectIfPresent(of: NSDate.self, forKey: Key.timestamp) else { return nil }
        place = CLLocationCoordinate2D(
            latitude: coder.decodeDouble(forKey: Key.latitude), longitude: coder.decodeDouble(forKey: Key.longitude))
        height = coder.decodeDouble(forKey: Key.altitude)
        horizontal = coder.decodeDouble(forKey: Key.horizontalAccuracy)
        vertical = coder.decodeDouble(forKey: Key.verticalAccuracy)
        heading = coder.decodeDouble(forKey: Key.course)
        headingAccuracy = coder.decodeDouble(forKey: Key.courseAccuracy)
        velocity = coder.decodeDouble(forKey: Key.speed)
        velocityAccuracy = coder.decodeDouble(forKey: Key.speedAccuracy)
        time = timestamp as Date
        source = coder.decodeObjectIfPresent(of: CLLocationSourceInformation.self, forKey: Key.source)
        super.init()
    }

    /// True.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the place to an archive.
    open func encode(with coder: NSCoder) {
        coder.encode(coordinate.latitude, forKey: Key.latitude)
        coder.encode(coordinate.longitude, forKey: Key.longitude)
        coder.encode(altitude, forKey: Key.altitude)
        coder.encode(horizontalAccuracy, forKey: Key.horizontalAccuracy)
        coder.encode(verticalAccuracy, forKey: Key.verticalAccuracy)
        coder.encode(course, forKey: Key.course)
        coder.encode(courseAccuracy, forKey: Key.courseAccuracy)
        coder.encode(speed, forKey: Key.speed)
        coder.encode(speedAccuracy, forKey: Key.speedAccuracy)
        coder.encode(timestamp as NSDate, forKey: Key.timestamp)
        if let sourceInformation { coder.encode(sourceInformation, forKey: Key.source) }
    }

    /// Returns the place itself, since it never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns the way over the ground to another place, in metres.
    ///
    /// Heights do not count. The earth is taken for a sphere, which is right to 0.6 %; Apple's result may differ by
    /// that.
    open func distance(from location: CLLocation) -> CLLocationDistance {
        coordinate.distance(to: location.coordinate)
    }

    /// The place, how well it is known, and when it was so.
    open override var description: String {
        "\(coordinate.text) +/- \(horizontalAccuracy.text(places: 2))m (speed \(speed.text(places: 2)) mps / "
            + "course \(course.text(places: 2))) @ \(timestamp)"
    }

    private enum Key {
        static let latitude = "latitude"
        static let longitude = "longitude"
        static let altitude = "altitude"
        static let horizontalAccuracy = "horizontalAccuracy"
        static let verticalAccuracy = "verticalAccuracy"
        static let course = "course"
        static let courseAccuracy = "courseAccuracy"
        static let speed = "speed"
        static let speedAccuracy = "speedAccuracy"
        static let timestamp = "timestamp"
        static let source = "source"
    }
}

/// A storey of a building. Nothing here makes one.
open class CLFloor: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Unchecked, since the superclass is not known to be Sendable. All stored properties are constant.

    /// The number of the storey: 0 is the ground floor, below it are negative ones.
    open var level: Int { storey }

    private let storey: Int

    /// Creates the ground floor.
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

    /// Returns the storey itself, since it never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// The source of a place.
open class CLLocationSourceInformation: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Unchecked, since the superclass is not known to be Sendable. All stored properties are constant.

    /// A Boolean value that says that software made the place up.
    open var isSimulatedBySoftware: Bool { software }

    /// A Boolean value that says that it comes from an accessory.
    open var isProducedByAccessory: Bool { accessory }

    private let software: Bool
    private let accessory: Bool

    /// Creates a source from its two properties.
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

    /// Returns the source itself, since it never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}
