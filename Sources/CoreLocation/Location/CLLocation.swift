/// A geographic location at a time, with its accuracy.
///
/// These modules never create one, since they know beacons but not positions. Apps may create their own.
open class CLLocation: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Unchecked, since the superclass is not known to be Sendable. All stored properties are constant.

    /// The values of a location. Course and speed are unknown by default.
    private struct Values {
        var coordinate: CLLocationCoordinate2D
        var altitude: CLLocationDistance = 0
        var horizontalAccuracy: CLLocationAccuracy = 0
        var verticalAccuracy: CLLocationAccuracy = -1
        var course: CLLocationDirection = -1
        var courseAccuracy: CLLocationDirectionAccuracy = -1
        var speed: CLLocationSpeed = -1
        var speedAccuracy: CLLocationSpeedAccuracy = -1
        var timestamp = Date()
        var source: CLLocationSourceInformation?
    }

    private let values: Values

    /// The coordinate.
    open var coordinate: CLLocationCoordinate2D { values.coordinate }

    /// The height above sea level, in meters.
    open var altitude: CLLocationDistance { values.altitude }

    /// The height above the WGS 84 ellipsoid, in meters. Always 0: no initializer accepts it.
    open var ellipsoidalAltitude: CLLocationDistance { 0 }

    /// The radius of uncertainty around ``coordinate`` in meters; negative if unknown.
    open var horizontalAccuracy: CLLocationAccuracy { values.horizontalAccuracy }

    /// The possible error of ``altitude``, in meters; zero or negative if unknown.
    open var verticalAccuracy: CLLocationAccuracy { values.verticalAccuracy }

    /// The direction of movement, in degrees from north; negative if unknown.
    open var course: CLLocationDirection { values.course }

    /// The possible error of ``course``, in degrees; negative if unknown.
    open var courseAccuracy: CLLocationDirectionAccuracy { values.courseAccuracy }

    /// The speed of the device, in meters per second; negative if unknown.
    open var speed: CLLocationSpeed { values.speed }

    /// The possible error of ``speed``, in meters per second; negative if unknown.
    open var speedAccuracy: CLLocationSpeedAccuracy { values.speedAccuracy }

    /// The time at which the device was there.
    open var timestamp: Date { values.timestamp }

    /// The floor of the building. Always nil here.
    open var floor: CLFloor? { nil }

    /// The source of the location; nil if it was not specified.
    open var sourceInformation: CLLocationSourceInformation? { values.source }

    /// Creates a location at latitude and longitude 0 without other values.
    public override convenience init() { self.init(latitude: 0, longitude: 0) }

    /// Creates a location at the present time, with altitude and horizontal accuracy 0. Vertical accuracy, course and
    /// speed are -1, which means unknown.
    public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        values = Values(coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude))
        super.init()
    }

    /// Creates a location with unknown course and speed.
    public init(
        coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
        horizontalAccuracy hAccuracy: CLLocationAccuracy,
        verticalAccuracy vAccuracy: CLLocationAccuracy, timestamp: Date
    ) {
        values = Values(
            coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy, verticalAccuracy: vAccuracy,
            timestamp: timestamp)
        super.init()
    }

    /// Creates a location with course and speed of unknown accuracy.
    public init(
        coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
        horizontalAccuracy hAccuracy: CLLocationAccuracy,
        verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection, speed: CLLocationSpeed,
        timestamp: Date
    ) {
        values = Values(
            coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy, verticalAccuracy: vAccuracy,
            course: course, speed: speed, timestamp: timestamp)
        super.init()
    }

    /// Creates a location with all values except a source.
    public init(
        coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
        horizontalAccuracy hAccuracy: CLLocationAccuracy,
        verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
        courseAccuracy: CLLocationDirectionAccuracy, speed: CLLocationSpeed, speedAccuracy: CLLocationSpeedAccuracy,
        timestamp: Date
    ) {
        values = Values(
            coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy, verticalAccuracy: vAccuracy,
            course: course, courseAccuracy: courseAccuracy, speed: speed, speedAccuracy: speedAccuracy,
            timestamp: timestamp)
        super.init()
    }

    /// Creates a location with all values and its source.
    public init(
        coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
        horizontalAccuracy hAccuracy: CLLocationAccuracy,
        verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
        courseAccuracy: CLLocationDirectionAccuracy, speed: CLLocationSpeed, speedAccuracy: CLLocationSpeedAccuracy,
        timestamp: Date, sourceInfo: CLLocationSourceInformation
    ) {
        values = Values(
            coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy, verticalAccuracy: vAccuracy,
            course: course, courseAccuracy: courseAccuracy, speed: speed, speedAccuracy: speedAccuracy,
            timestamp: timestamp, source: sourceInfo)
        super.init()
    }

    /// Decodes a location.
    ///
    /// - Returns: nil if the archive has no time.
    public required init?(coder: NSCoder) {
        guard let timestamp = coder.decodeObjectIfPresent(of: NSDate.self, forKey: Key.timestamp) else { return nil }
        values = Values(
            coordinate: CLLocationCoordinate2D(
                latitude: coder.decodeDouble(forKey: Key.latitude), longitude: coder.decodeDouble(forKey: Key.longitude)
            ),
            altitude: coder.decodeDouble(forKey: Key.altitude),
            horizontalAccuracy: coder.decodeDouble(forKey: Key.horizontalAccuracy),
            verticalAccuracy: coder.decodeDouble(forKey: Key.verticalAccuracy),
            course: coder.decodeDouble(forKey: Key.course),
            courseAccuracy: coder.decodeDouble(forKey: Key.courseAccuracy),
            speed: coder.decodeDouble(forKey: Key.speed), speedAccuracy: coder.decodeDouble(forKey: Key.speedAccuracy),
            timestamp: timestamp as Date,
            source: coder.decodeObjectIfPresent(of: CLLocationSourceInformation.self, forKey: Key.source))
        super.init()
    }

    /// True.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes the location.
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

    /// Returns the location itself, since it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns the distance along the ground to another location, in meters.
    ///
    /// Altitudes are ignored. The earth is treated as a sphere, which is accurate to 0.6 %, so Apple's result may
    /// differ by as much.
    open func distance(from location: CLLocation) -> CLLocationDistance {
        coordinate.distance(to: location.coordinate)
    }

    /// The coordinate, accuracy, speed, course and time.
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

/// A floor of a building. These modules never create one.
open class CLFloor: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Unchecked, since the superclass is not known to be Sendable. All stored properties are constant.

    /// The number of the floor: 0 is the ground floor, and floors below it are negative.
    open var level: Int { storey }

    private let storey: Int

    /// Creates the ground floor.
    public override init() {
        storey = 0
        super.init()
    }

    /// Decodes a floor.
    public required init?(coder: NSCoder) {
        storey = coder.decodeInteger(forKey: "level")
        super.init()
    }

    /// True.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes the floor.
    open func encode(with coder: NSCoder) {
        coder.encode(level, forKey: "level")
    }

    /// Returns the floor itself, since it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// The source of a location.
open class CLLocationSourceInformation: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Unchecked, since the superclass is not known to be Sendable. All stored properties are constant.

    /// A Boolean value indicating whether software simulated the location.
    open var isSimulatedBySoftware: Bool { software }

    /// A Boolean value indicating whether an accessory produced the location.
    open var isProducedByAccessory: Bool { accessory }

    private let software: Bool
    private let accessory: Bool

    /// Creates a source.
    public init(softwareSimulationState isSoftware: Bool, andExternalAccessoryState isAccessory: Bool) {
        software = isSoftware
        accessory = isAccessory
        super.init()
    }

    /// Decodes a source.
    public required init?(coder: NSCoder) {
        software = coder.decodeBool(forKey: "isSimulatedBySoftware")
        accessory = coder.decodeBool(forKey: "isProducedByAccessory")
        super.init()
    }

    /// True.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes the source.
    open func encode(with coder: NSCoder) {
        coder.encode(isSimulatedBySoftware, forKey: "isSimulatedBySoftware")
        coder.encode(isProducedByAccessory, forKey: "isProducedByAccessory")
    }

    /// Returns the source itself, since it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}
