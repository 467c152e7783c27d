public import BeaconModel

/// A message to a backend about a region's enter or exit, a beacon's proximity, or the beacons that are present.
///
/// It is not called `Notification` because Foundation has a type of that name, which most programs import as well.
public struct BeaconNotification: Hashable, Sendable, Identifiable {
    /// The notification's id, the same for each delivery.
    public private(set) var id: EventID

    /// The kind of notification.
    public let kind: Kind

    /// The time of the event, since 1970, to the millisecond.
    public internal(set) var time: Timestamp

    /// The region; nil if the beacon was heard outside all named regions, and in a heartbeat.
    public var region: Region?

    /// The beacon, if the notification concerns one.
    public var beacon: BeaconIdentity?

    /// The user's name for the beacon, or nil.
    public var beaconName: String?

    /// The beacon's proximity; nil if the notification does not concern proximity.
    public var proximity: Proximity?

    /// The estimated distance in meters, or -1 if it is unknown.
    public var accuracy: Double?

    /// The signal strength in dBm; nil if there was no reading.
    public var rssi: Int?

    /// The beacon's measured power, its signal strength at one meter in dBm, if known.
    public var measuredPower: Int?

    /// The receiver that heard the beacon, if any.
    public var receiver: String?

    /// The beacon's place; nil if it has left all places, or if the notification does not concern places.
    public var place: String?

    /// The beacon's previous place; nil if it was outside all places, or if the place is unknown.
    public var before: String?

    /// The lead over the next best place in decibels.
    public var margin: Double?

    /// The next best place.
    public var runnerUp: String?

    /// The reason to suspect that more than one device uses the beacon's identity; nil for other kinds of notification.
    public var suspicion: SuspicionEvidence?

    /// The user whom the notification concerns, as named by the application. Kumulos requires it.
    public var user: String?

    /// The name of a custom event.
    public var name: String?

    /// The properties of a custom event.
    public var properties: [String: JSONValue]?

    /// The regions and their beacons, in a heartbeat.
    public var presence: [Presence]?

    /// Creates a notification with only its id, kind and time.
    ///
    /// - Parameters:
    ///   - id: the id.
    ///   - kind: the kind of notification.
    ///   - time: the time since 1970, which is rounded to the millisecond.
    public init(id: EventID, kind: Kind, time: Timestamp) {
        self.id = id
        self.kind = kind
        self.time = Timestamp(nanoseconds: (time.nanoseconds + 500_000) / 1_000_000 * 1_000_000)
    }

    /// Returns the notification with another id: the id of its event, if another machine may report the same event.
    package func named(_ id: EventID) -> BeaconNotification {
        var other = self
        other.id = id
        return other
    }
}

extension BeaconNotification {
    /// A kind of notification. A store of a newer version may contain further kinds, so a `switch` needs a default.
    public struct Kind: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
        /// The kind's name in JSON.
        public let rawValue: String

        /// Creates a kind.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A region was entered.
        public static let enter = Kind(rawValue: "enter")
        /// A region was left.
        public static let exit = Kind(rawValue: "exit")
        /// A beacon is new, or its proximity has changed.
        public static let proximity = Kind(rawValue: "proximity")
        /// A beacon from an earlier notification is no longer heard.
        public static let gone = Kind(rawValue: "gone")
        /// A beacon has moved to another place, or has left all places.
        public static let place = Kind(rawValue: "place")
        /// A beacon's identity is heard in a way that a single device cannot produce.
        public static let suspicious = Kind(rawValue: "suspicious")
        /// The beacons that are present in each region, sent at an interval so that a receiver can recover from missed
        /// notifications.
        public static let heartbeat = Kind(rawValue: "heartbeat")
        /// A custom event of an application, with a name and properties. Kumulos accepts it.
        public static let application = Kind(rawValue: "application")

        /// The kind's name.
        public var description: String { rawValue }
    }

    /// A region with the user's name for it.
    public struct Region: Hashable, Sendable, CustomStringConvertible {
        /// The user's name for the region.
        public var name: String

        /// The beacons that belong to the region.
        public var constraint: BeaconConstraint

        /// Creates a region.
        ///
        /// - Parameters:
        ///   - name: the user's name for it.
        ///   - constraint: the beacons that belong to it.
        public init(name: String, constraint: BeaconConstraint) {
            self.name = name
            self.constraint = constraint
        }

        /// The name.
        public var description: String { name }
    }
}

/// The JSON form, as stored in the event store, sent by webhooks in `data`, and sent to brokers. Its keys are those of
/// the command line's JSON lines where both have the same value. Keys without a value are omitted.
///
/// ```json
/// {"id":"018bcfe5-6800-7000-8000-000000000001","kind":"proximity","time":1700000000.25,
///  "region":{"name":"shop","uuid":"…","major":1},"beacon":{"uuid":"…","major":1,"minor":7},
///  "proximity":"near","accuracy":1.52,"rssi":-64,"receiver":"hci0"}
/// ```
extension BeaconNotification: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, kind, time, region, beacon, proximity, accuracy, rssi, measuredPower, receiver, user, name, properties
        case presence, place, before, margin, runnerUp, suspicion
    }

    /// Decodes the JSON form and ignores unknown keys.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let seconds = try values.decode(Double.self, forKey: .time)
        guard let time = Timestamp(since1970: seconds) else {
            throw DecodingError.dataCorruptedError(
                forKey: .time, in: values, debugDescription: "a time is seconds since 1970, up to the year 2116")
        }
        self.init(
            id: try values.decode(EventID.self, forKey: .id), kind: try values.decode(Kind.self, forKey: .kind),
            time: time)
        region = try values.decodeIfPresent(Region.self, forKey: .region)
        let named = try values.decodeIfPresent(IdentifiedBeacon.self, forKey: .beacon)
        (beacon, beaconName) = (named?.identity, named?.name)
        proximity = try values.decodeIfPresent(Proximity.self, forKey: .proximity)
        accuracy = try values.decodeIfPresent(Double.self, forKey: .accuracy)
        rssi = try values.decodeIfPresent(Int.self, forKey: .rssi)
        measuredPower = try values.decodeIfPresent(Int.self, forKey: .measuredPower)
        receiver = try values.decodeIfPresent(String.self, forKey: .receiver)
        place = try values.decodeIfPresent(String.self, forKey: .place)
        before = try values.decodeIfPresent(String.self, forKey: .before)
        margin = try values.decodeIfPresent(Double.self, forKey: .margin)
        runnerUp = try values.decodeIfPresent(String.self, forKey: .runnerUp)
        suspicion = try values.decodeIfPresent(SuspicionEvidence.self, forKey: .suspicion)
        user = try values.decodeIfPresent(String.self, forKey: .user)
        name = try values.decodeIfPresent(String.self, forKey: .name)
        properties = try values.decodeIfPresent([String: JSONValue].self, forKey: .properties)
        presence = try values.decodeIfPresent([Presence].self, forKey: .presence)
    }

    /// Encodes the JSON form.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(id, forKey: .id)
        try values.encode(kind, forKey: .kind)
        try values.encode(Double(time.milliseconds) / 1000, forKey: .time)
        try values.encodeIfPresent(region, forKey: .region)
        try values.encodeIfPresent(beacon.map { IdentifiedBeacon(identity: $0, name: beaconName) }, forKey: .beacon)
        try values.encodeIfPresent(proximity, forKey: .proximity)
        try values.encodeIfPresent(accuracy.map(Self.finite), forKey: .accuracy)
        try values.encodeIfPresent(rssi, forKey: .rssi)
        try values.encodeIfPresent(measuredPower, forKey: .measuredPower)
        try values.encodeIfPresent(receiver, forKey: .receiver)
        try values.encodeIfPresent(place, forKey: .place)
        try values.encodeIfPresent(before, forKey: .before)
        // JSON has no infinity and no NaN.
        try values.encodeIfPresent(margin.flatMap { $0.isFinite ? $0 : nil }, forKey: .margin)
        try values.encodeIfPresent(runnerUp, forKey: .runnerUp)
        try values.encodeIfPresent(suspicion, forKey: .suspicion)
        try values.encodeIfPresent(user, forKey: .user)
        try values.encodeIfPresent(name, forKey: .name)
        try values.encodeIfPresent(properties, forKey: .properties)
        try values.encodeIfPresent(presence, forKey: .presence)
    }

    /// Returns an accuracy for JSON, rounded to the centimeter, which is finer than any estimate. A value that is not
    /// finite becomes -1, an unknown distance.
    static func finite(_ accuracy: Double) -> Double {
        let centimeters = (accuracy * 100).rounded()
        return centimeters.isFinite ? centimeters / 100 : -1
    }
}

/// A beacon in JSON: its identity, and the user's name for it.
private struct IdentifiedBeacon: Codable {
    var identity: BeaconIdentity
    var name: String?

    private enum CodingKeys: CodingKey {
        case name
    }

    init(identity: BeaconIdentity, name: String?) {
        self.identity = identity
        self.name = name
    }

    init(from decoder: any Decoder) throws {
        name = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(String.self, forKey: .name)
        identity = try BeaconIdentity(from: decoder)
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(name, forKey: .name)
        try identity.encode(to: encoder)
    }
}

extension BeaconNotification.Region: Codable {
    private enum CodingKeys: CodingKey {
        case name
    }

    /// Decodes the name and the constraint, which share one JSON object.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            name: try values.decode(String.self, forKey: .name), constraint: try BeaconConstraint(from: decoder))
    }

    /// Encodes the name and the constraint into one JSON object.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(name, forKey: .name)
        try constraint.encode(to: encoder)
    }
}
