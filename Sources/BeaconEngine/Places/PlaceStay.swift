/// How a beacon is heard in the place where it is: the memory that decides while another room is dark.
///
/// A beacon that may have gone to a dark room is heard worse than before by the receiver of its old place. So a beacon
/// that was placed while all rooms heard stays there until its level has clearly fallen. The fall is a sequential test,
/// as in ``PlaceLead``.
struct PlaceStay {
    private var place: Int16 = -1

    /// The usual level in the place, in dBm, and the accumulated fall below it.
    private var level: Float = 0
    private var fall: Float = 0

    /// True if the beacon was in the place while all rooms heard, and its level has not fallen since.
    private(set) var isCertain = false

    /// The seconds over which the level is averaged, the fall in dB that is no evidence, and the sum in dB times
    /// seconds that shows a departure.
    private static let memory: Float = 30
    private static let slack: Float = 4
    private static let needed: Float = 24

    /// Adds a second.
    ///
    /// - Parameters:
    ///   - newLevel: the level at the best receiver of the place, in dBm.
    ///   - newPlace: the place that hears the beacon best.
    ///   - seconds: the seconds that the second's readings count for; 0 without readings.
    ///   - isCertain: true if every room hears.
    /// - Returns: true if the level has fallen so far that the beacon may have left.
    mutating func note(_ newLevel: Float, in newPlace: Int, seconds: Float, isCertain: Bool) -> Bool {
        if Int(place) != newPlace {
            self = PlaceStay()
            (place, level) = (Int16(newPlace), newLevel)
        }
        level += (newLevel - level) * seconds / (seconds + Self.memory)
        fall = max(0, fall + (level - newLevel - Self.slack) * seconds)
        let hasFallen = fall > Self.needed
        if hasFallen { (level, fall, self.isCertain) = (newLevel, 0, false) }
        if isCertain { self.isCertain = true }
        return hasFallen
    }
}

/// The evidence that the strongest level of a kind of beacons is that of a close beacon.
///
/// While a room is dark, only a beacon that is close to another receiver is placed, and close means: almost as loud as
/// the loudest beacons of its kind. If the room was dark from the start, those may have been heard through its wall. So
/// the loudest level counts once all rooms have heard the kind for a while, or once it has exceeded the usual level by
/// far. After that it counts for good: a beacon that stays close makes the usual level loud.
struct PlaceContrast {
    /// The mean of the strongest readings of the seconds, in dBm, and their number.
    private var usual: Float = 0
    private var count: Float = 0

    /// The seconds in which no room was dark.
    private var wholeSeconds: UInt16 = 0

    private var hasStoodOut = false

    private static let memory: Float = 3600
    private static let neededSeconds: UInt16 = 30
    private static let contrast: Float = 8

    /// Adds the strongest reading of a beacon in a second, in dBm.
    mutating func hear(_ reading: Float, isAnyDark: Bool) {
        count = min(count + 1, Self.memory)
        usual += (reading - usual) / count
        if !isAnyDark, wholeSeconds < Self.neededSeconds { wholeSeconds += 1 }
    }

    /// Returns true if a level in dBm can only be that of a close beacon.
    mutating func isTelling(of level: Float) -> Bool {
        hasStoodOut = hasStoodOut || level - usual >= Self.contrast
        return wholeSeconds >= Self.neededSeconds || hasStoodOut
    }
}
