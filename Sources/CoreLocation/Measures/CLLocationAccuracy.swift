/// How far off a value may be, in metres; negative where that cannot be told.
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
