/// A speed in metres per second; negative where it is not known.
public typealias CLLocationSpeed = Double

/// How far off a speed may be, in metres per second; negative where that cannot be told.
public typealias CLLocationSpeedAccuracy = Double
