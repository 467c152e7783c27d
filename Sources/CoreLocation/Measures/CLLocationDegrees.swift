/// A latitude or longitude, in degrees.
public typealias CLLocationDegrees = Double
