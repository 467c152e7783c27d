public import BeaconModel

/// The places in which beacons are located, and the receivers that decide between them.
///
/// Places and receivers have numbers, from zero on. What they are called, and which ``ReceiverID`` a receiver has in
/// its source, is the caller's business: ``Engine/setReceiver(_:of:)``.
public struct PlaceMap: Hashable, Sendable {
    /// The number of places: rooms, floors, shops.
    public private(set) var placeCount: Int

    /// The place of each receiver; nil for one that is in none, which helps only where places were taught.
    public private(set) var receivers: [Int?]

    /// The rules of the decision.
    public var rules = PlaceRules()

    /// How beacons were heard at spots of the places, where that was taught; without, the strongest receiver decides.
    public var taught: [TaughtPoint] = []

    /// True where there is a report each second, and not only changes.
    public var reportsEachSecond = false

    /// The most receivers. What is known of a beacon has room for each of them.
    public static let maximumReceivers = 256

    /// The most places.
    public static let maximumPlaces = 1000

    /// Creates a map.
    ///
    /// - Parameters:
    ///   - placeCount: the number of places.
    ///   - receivers: the place of each receiver; nil for one that is in none.
    public init(placeCount: Int, receivers: [Int?]) {
        let count = min(max(placeCount, 0), Self.maximumPlaces)
        self.placeCount = count
        self.receivers = receivers.prefix(Self.maximumReceivers).map { place in
            place.flatMap { $0 >= 0 && $0 < count ? $0 : nil }
        }
    }
}

/// The rules by which a beacon comes into a place and leaves it.
///
/// Each second, the decibels by which another place leads are added up, less a third of the margin. The beacon moves
/// when the sum is what a lead by the margin gives in the hold time. Twice the margin takes two fifths of that time.
/// Where places have several receivers, the time is divided by the number of their pairs.
///
/// The numbers were chosen on a door with ten receivers, on four rooms and on a flat, see `docs/quality.md`.
public struct PlaceRules: Hashable, Sendable {
    /// The seconds over which levels are averaged: the time constant of an exponential mean.
    public var memory = 1.0

    /// The decibels by which another place has to lead for the hold time before a beacon changes to it.
    public var margin = 6.0

    /// The time for which it has to lead by the margin, where each of the two places has one receiver.
    public var holdTime = Duration.seconds(12)

    /// The time unheard after which a beacon is in no place. A beacon that is heard rarely has three of its usual gaps.
    public var exitTimeout = Duration.seconds(60)

    /// The part of the margin that says nothing.
    static let slack: Float = 1 / 3

    /// The most pairs of receivers that count, and the most seconds that one reading of a rare advert counts for.
    static let mostWitnesses = 16
    static let mostSeconds: Float = 3

    /// Creates the default rules.
    public init() {}
}

/// Where a beacon is.
public enum Whereabouts: Hashable, Sendable {
    /// The receivers that hear cannot tell.
    case unknown
    /// It is in none of the places: no receiver has heard it for long enough.
    case nowhere
    /// It is in the place of this number.
    case place(Int)
}

/// A change of where a beacon is.
public struct PlaceChange: Hashable, Sendable {
    /// The beacon.
    public var identity: BeaconIdentity

    /// The whole second at which it was decided.
    public var time: Timestamp

    /// Where it is.
    public var whereabouts: Whereabouts

    /// Where it was known to be last, whatever has been unknown since.
    public var before: Whereabouts

    /// The decision's grounds.
    public var grounds: PlaceGrounds
}

/// A beacon as it is located now.
public struct LocatedBeacon: Hashable, Sendable {
    /// The beacon.
    public var identity: BeaconIdentity

    /// Where it is.
    public var whereabouts: Whereabouts

    /// The grounds of the newest second.
    public var grounds: PlaceGrounds
}

/// The grounds of a decision between places.
public struct PlaceGrounds: Hashable, Sendable {
    /// The receiver that hears the beacon strongest in its place.
    public var receiver: ReceiverID?

    /// The level there in dBm.
    public var level: Double?

    /// The decibels by which the place leads the next one; negative where that leads, but not by enough or for long
    /// enough. Nil where there is no other.
    public var margin: Double?

    /// The number of the next place; nil where there is none.
    public var runnerUp: Int?

    /// No grounds, as where a beacon is not heard.
    public init() {}
}
