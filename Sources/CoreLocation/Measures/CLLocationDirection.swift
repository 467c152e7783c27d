/// A direction in degrees, clockwise from north; negative where it is not known.
public typealias CLLocationDirection = Double

/// How far off a direction may be, in degrees; negative where that cannot be told.
public typealias CLLocationDirectionAccuracy = Double

/// A component of the magnetic field, in microteslas.
public typealias CLHeadingComponentValue = Double

/// The heading filter that lets every turn through. Value -1.
public let kCLHeadingFilterNone: CLLocationDegrees = -1
