/// A distance in metres.
public typealias CLLocationDistance = Double

/// The distance filter that lets every movement through. Value -1.
public let kCLDistanceFilterNone: CLLocationDistance = -1

/// A distance beyond all others.
public let CLLocationDistanceMax: CLLocationDistance = .greatestFiniteMagnitude

/// A time in seconds beyond all others.
public let CLTimeIntervalMax: TimeInterval = .greatestFiniteMagnitude

/// The possible error of a value, in metres; negative where it is not known.
public typealias CLLocationAccuracy = Double

/// Asks for the best there is, with other sensors' help. Value -2.
public let kCLLocationAccuracyBestForNavigation: CLLocationAccuracy = -2

/// Asks for the best there is. Value -1.
public let kCLLocationAccuracyBest: CLLocationAccuracy = -1

/// Asks for ten metres.
public let kCLLocationAccuracyNearestTenMeters: CLLocationAccuracy = 10

/// Asks for a hundred metres.
public let kCLLocationAccuracyHundredMeters: CLLocationAccuracy = 100

/// Asks for a kilometre.
public let kCLLocationAccuracyKilometer: CLLocationAccuracy = 1000

/// Asks for three kilometres.
public let kCLLocationAccuracyThreeKilometers: CLLocationAccuracy = 3000

/// The accuracy that an app without full accuracy gets. Apple documents no number; here it is the largest there is.
public let kCLLocationAccuracyReduced: CLLocationAccuracy = .greatestFiniteMagnitude

/// A latitude or longitude, in degrees.
public typealias CLLocationDegrees = Double

/// A direction in degrees, clockwise from north; negative where it is not known.
public typealias CLLocationDirection = Double

/// The possible error of a direction, in degrees; negative where it is not known.
public typealias CLLocationDirectionAccuracy = Double

/// A component of the magnetic field, in microteslas.
public typealias CLHeadingComponentValue = Double

/// The heading filter that lets every turn through. Value -1.
public let kCLHeadingFilterNone: CLLocationDegrees = -1

/// A speed in metres per second; negative where it is not known.
public typealias CLLocationSpeed = Double

/// The possible error of a speed, in metres per second; negative where it is not known.
public typealias CLLocationSpeedAccuracy = Double
