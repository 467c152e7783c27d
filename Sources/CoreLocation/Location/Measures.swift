/// A distance in meters.
public typealias CLLocationDistance = Double

/// The distance filter that reports every movement. Its value is -1.
public let kCLDistanceFilterNone: CLLocationDistance = -1

/// The maximum distance.
public let CLLocationDistanceMax: CLLocationDistance = .greatestFiniteMagnitude

/// The maximum time interval in seconds.
public let CLTimeIntervalMax: TimeInterval = .greatestFiniteMagnitude

/// The possible error of a value, in meters; negative if unknown.
public typealias CLLocationAccuracy = Double

/// The best available accuracy, with additional sensors. Its value is -2.
public let kCLLocationAccuracyBestForNavigation: CLLocationAccuracy = -2

/// The best available accuracy. Its value is -1.
public let kCLLocationAccuracyBest: CLLocationAccuracy = -1

/// An accuracy of ten meters.
public let kCLLocationAccuracyNearestTenMeters: CLLocationAccuracy = 10

/// An accuracy of a hundred meters.
public let kCLLocationAccuracyHundredMeters: CLLocationAccuracy = 100

/// An accuracy of a kilometer.
public let kCLLocationAccuracyKilometer: CLLocationAccuracy = 1000

/// An accuracy of three kilometers.
public let kCLLocationAccuracyThreeKilometers: CLLocationAccuracy = 3000

/// The accuracy of an app with reduced accuracy. Apple documents no number; here it is the largest finite one.
public let kCLLocationAccuracyReduced: CLLocationAccuracy = .greatestFiniteMagnitude

/// A latitude or longitude, in degrees.
public typealias CLLocationDegrees = Double

/// A direction in degrees, clockwise from north; negative if unknown.
public typealias CLLocationDirection = Double

/// The possible error of a direction, in degrees; negative if unknown.
public typealias CLLocationDirectionAccuracy = Double

/// A component of the magnetic field, in microteslas.
public typealias CLHeadingComponentValue = Double

/// The heading filter that reports every turn. Its value is -1.
public let kCLHeadingFilterNone: CLLocationDegrees = -1

/// A speed in meters per second; negative if unknown.
public typealias CLLocationSpeed = Double

/// The possible error of a speed, in meters per second; negative if unknown.
public typealias CLLocationSpeedAccuracy = Double
