/// A distance in metres.
public typealias CLLocationDistance = Double

/// The distance filter that lets every movement through. Value -1.
public let kCLDistanceFilterNone: CLLocationDistance = -1

/// A distance beyond all others.
public let CLLocationDistanceMax: CLLocationDistance = .greatestFiniteMagnitude

/// A time in seconds beyond all others.
public let CLTimeIntervalMax: TimeInterval = .greatestFiniteMagnitude
