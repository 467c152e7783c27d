public import BeaconModel

/// The places in which beacons are located, and the receivers that decide between them.
///
/// Places and receivers have numbers, from zero on. The caller maps them to names, and to the source's ``ReceiverID``s
/// with ``Engine/setReceiver(_:of:)``.
public struct PlaceMap: Hashable, Sendable {
    /// The number of places: rooms, floors, shops.
    public private(set) var placeCount: Int

    /// The place of each receiver; nil for a receiver in no place, which helps only with taught places.
    public private(set) var receivers: [Int?]

    /// The receivers whose place is only a guess from the taught levels.
    public var guessed: Set<Int> = []

    /// The rules of the decision.
    public var rules = PlaceRules()

    /// The taught signal levels at spots of the places. Without them, the strongest receiver decides.
    public var taught: [TaughtPoint] = []

    /// True if taught levels tell more than the rooms of the receivers: a taught place has no receiver, or a receiver
    /// that heard a taught point is in no place.
    ///
    /// Otherwise teaching changes nothing. Similarity counts squares, so a lead in it is several times as noisy as one
    /// in decibels, and tags that lie still would change places several times as often.
    public var needsTeaching: Bool {
        let certain = Set(receivers.indices.filter { receivers[$0] != nil && !guessed.contains($0) })
        let places = Set(certain.compactMap { receivers[$0] })
        for point in taught {
            if !places.contains(point.place) { return true }
            for (number, level) in point.levels.enumerated() where !certain.contains(number) {
                if case .heard = level { return true }
            }
        }
        return false
    }

    /// Forgets the teaching and the guesses that follow from it.
    mutating func forgetTeaching() {
        for number in guessed where receivers.indices.contains(number) { receivers[number] = nil }
        (taught, guessed) = ([], [])
    }

    /// True to report each second, and not only changes.
    public var reportsEachSecond = false

    /// The maximum number of receivers. Each beacon's state has room for all of them.
    public static let maximumReceivers = 256

    /// The maximum number of places.
    public static let maximumPlaces = 1000

    /// Creates a map.
    ///
    /// - Parameters:
    ///   - placeCount: the number of places.
    ///   - receivers: the place of each receiver; nil for a receiver in no place.
    public init(placeCount: Int, receivers: [Int?]) {
        let count = min(max(placeCount, 0), Self.maximumPlaces)
        self.placeCount = count
        self.receivers = receivers.prefix(Self.maximumReceivers).map { place in
            place.flatMap { $0 >= 0 && $0 < count ? $0 : nil }
        }
    }
}

/// The rules by which a beacon enters and leaves a place.
///
/// Each second adds the lead of another place in decibels, less a third of the margin, to a sum. The beacon moves when
/// the sum is what a steady lead by the margin gives in the hold time. A larger lead, a beacon that has just moved and
/// levels without noise take less time. If places have several receivers, the time is divided by the number of their
/// pairs.
public struct PlaceRules: Hashable, Sendable, Codable {
    /// The time constant in seconds of the exponential mean that smooths levels.
    public var memory = 1.0

    /// The lead in decibels that another place must have for the hold time before a beacon moves to it.
    public var margin = 6.0

    /// The time for which another place must lead by the margin if each of the two places has one receiver.
    public var holdTime = Duration.seconds(20)

    /// The time without an advert after which a beacon is in no place. A beacon that is rarely heard has three of its
    /// usual gaps.
    public var exitTimeout = Duration.seconds(60)

    /// Other times for some beacons, whose intervals say nothing: phones, which may be silent for many minutes.
    package var exitTimeouts: [BeaconIdentity: Duration] = [:]

    /// The part of the margin that is not evidence.
    static let slack: Float = 1 / 3

    /// The maximum number of receiver pairs that count, and the maximum seconds that one reading of a slow beacon
    /// counts for.
    static let maximumWitnesses = 16
    static let maximumSeconds: Float = 3

    /// Creates the default rules.
    public init() {}
}

/// The place of a beacon, if it is known.
public enum PlaceState: Hashable, Sendable {
    /// Unknown: the receivers that hear cannot decide.
    case unknown
    /// In none of the places: no receiver has heard the beacon for long enough.
    case nowhere
    /// In the place with this number.
    case place(Int)
}

/// A change of a beacon's place.
public struct PlaceChange: Hashable, Sendable {
    /// The beacon.
    public var identity: BeaconIdentity

    /// The whole second of the decision.
    public var time: Timestamp

    /// The new place.
    public var whereabouts: PlaceState

    /// The last known place, even if it has been unknown since.
    public var before: PlaceState

    /// The reasons for the decision.
    public var grounds: PlaceEvidence
}

/// A beacon that is located, with its current place.
public struct LocatedBeacon: Hashable, Sendable {
    /// The beacon.
    public var identity: BeaconIdentity

    /// The current place.
    public var whereabouts: PlaceState

    /// The reasons of the newest second.
    public var grounds: PlaceEvidence
}

/// The reasons for a decision between places.
public struct PlaceEvidence: Hashable, Sendable {
    /// The receiver that hears the beacon best in its place.
    public var receiver: ReceiverID?

    /// The level at that receiver in dBm.
    public var level: Double?

    /// The decibels by which the place leads the next one. It is negative if the next one leads, but not by enough or
    /// for long enough. Nil if there is no other place.
    public var margin: Double?

    /// The number of the next place, if any.
    public var runnerUp: Int?

    /// Creates empty reasons, for instance for a beacon that is not heard.
    public init() {}
}
