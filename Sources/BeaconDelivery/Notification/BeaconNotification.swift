public import BeaconModel

/// An event: a region's enter or exit, a beacon's proximity or place, or the beacons that are present.
///
/// It is stored once. Destinations, the history, rules and programs read the same stored JSON.
///
/// It is not called `Notification` because Foundation has a type of that name, which most programs import as well.
public struct BeaconNotification: Hashable, Sendable, Identifiable {
    /// The notification's id, the same for each delivery.
    public package(set) var id: EventID

    /// The kind of notification.
    public package(set) var kind: Kind

    /// The time of the event, since 1970, to the millisecond.
    public package(set) var time: Timestamp

    /// The region; nil if the beacon was heard outside all named regions, and in a heartbeat.
    public var region: Region?

    /// The beacon, if the notification concerns one.
    public var beacon: BeaconIdentity?

    /// The user's name for the beacon at the time of the event, or nil.
    public var beaconName: String?

    /// The user's further attributes of the beacon, by name.
    public var beaconAttributes: [String: String] = [:]

    /// The state of the region, or of the beacon's place; nil for other kinds of notification.
    public var state: RegionState?

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

    /// The signal strength that decided the place, in dBm.
    public var level: Double?

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

    /// Whether the receiver hears; only for the history.
    package var isHearing: Bool?

    // Destinations do not get these.

    /// A summary in one sentence, without a full stop.
    package var summary = ""
    /// The app or the webhook that sent the event; nil for events of this machine.
    package var sender: String?
    /// The install of the app, by its identifier.
    package var install: String?
    /// The user of the install, or the one that another gateway named; nil if unknown.
    package var person: String?
    /// The data that the app sent.
    package var data: [String: JSONValue]?

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
        /// A region's state became known, or unknown. It is only in the history, as are the next ones.
        package static let state = Kind(rawValue: "state")
        /// A receiver hears again, or no longer.
        package static let receiver = Kind(rawValue: "receiver")
        /// A custom event that an app has sent to this machine.
        package static let app = Kind(rawValue: "app")
        /// An app has sent an event that cannot be used.
        package static let refused = Kind(rawValue: "refused")
        /// An app has identified its user.
        package static let user = Kind(rawValue: "user")

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

/// The JSON form, as sent by webhooks in `data`, and to brokers. The event store has it without the time. Its keys are
/// those of the command line's JSON lines where both have the same value. Keys without a value are omitted.
///
/// ```json
/// {"id":"018bcfe5-6800-7000-8000-000000000001","kind":"proximity","time":1700000000.25,
///  "region":{"name":"shop","uuid":"…","major":1},"beacon":{"uuid":"…","major":1,"minor":7},
///  "proximity":"near","accuracy":1.52,"rssi":-64,"receiver":"hci0"}
/// ```
extension BeaconNotification: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, kind, time, region, beacon, proximity, accuracy, rssi, measuredPower, receiver, user, name, properties
        case presence, state, place, before, level, margin, runnerUp, suspicion
        case isHearing = "hearing"
    }

    /// The key of an encoder that omits the time, which is an attribute of the stored event.
    static let omitsTime = CodingUserInfoKey(rawValue: "omitsTime")

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
        (beacon, beaconName, beaconAttributes) = (named?.identity, named?.name, named?.attributes ?? [:])
        state = try values.decodeIfPresent(RegionState.self, forKey: .state)
        proximity = try values.decodeIfPresent(Proximity.self, forKey: .proximity)
        accuracy = try values.decodeIfPresent(Double.self, forKey: .accuracy)
        rssi = try values.decodeIfPresent(Int.self, forKey: .rssi)
        measuredPower = try values.decodeIfPresent(Int.self, forKey: .measuredPower)
        receiver = try values.decodeIfPresent(String.self, forKey: .receiver)
        place = try values.decodeIfPresent(String.self, forKey: .place)
        before = try values.decodeIfPresent(String.self, forKey: .before)
        level = try values.decodeIfPresent(Double.self, forKey: .level)
        margin = try values.decodeIfPresent(Double.self, forKey: .margin)
        runnerUp = try values.decodeIfPresent(String.self, forKey: .runnerUp)
        suspicion = try values.decodeIfPresent(SuspicionEvidence.self, forKey: .suspicion)
        user = try values.decodeIfPresent(String.self, forKey: .user)
        name = try values.decodeIfPresent(String.self, forKey: .name)
        properties = try values.decodeIfPresent([String: JSONValue].self, forKey: .properties)
        presence = try values.decodeIfPresent([Presence].self, forKey: .presence)
        isHearing = try values.decodeIfPresent(Bool.self, forKey: .isHearing)
    }

    /// Encodes the JSON form.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(id, forKey: .id)
        try values.encode(kind, forKey: .kind)
        if Self.omitsTime.flatMap({ encoder.userInfo[$0] }) == nil {
            try values.encode(Double(time.milliseconds) / 1000, forKey: .time)
        }
        try values.encodeIfPresent(region, forKey: .region)
        try values.encodeIfPresent(
            beacon.map {
                IdentifiedBeacon(
                    identity: $0, name: beaconName, attributes: beaconAttributes.isEmpty ? nil : beaconAttributes)
            }, forKey: .beacon)
        try values.encodeIfPresent(state, forKey: .state)
        try values.encodeIfPresent(proximity, forKey: .proximity)
        try values.encodeIfPresent(accuracy.map(Self.finite), forKey: .accuracy)
        try values.encodeIfPresent(rssi, forKey: .rssi)
        try values.encodeIfPresent(measuredPower, forKey: .measuredPower)
        try values.encodeIfPresent(receiver, forKey: .receiver)
        try values.encodeIfPresent(place, forKey: .place)
        try values.encodeIfPresent(before, forKey: .before)
        try values.encodeIfPresent(level.flatMap(Self.decibels), forKey: .level)
        try values.encodeIfPresent(margin.flatMap(Self.decibels), forKey: .margin)
        try values.encodeIfPresent(runnerUp, forKey: .runnerUp)
        try values.encodeIfPresent(suspicion, forKey: .suspicion)
        try values.encodeIfPresent(user, forKey: .user)
        try values.encodeIfPresent(name, forKey: .name)
        try values.encodeIfPresent(properties, forKey: .properties)
        try values.encodeIfPresent(presence, forKey: .presence)
        try values.encodeIfPresent(isHearing, forKey: .isHearing)
    }

    /// Returns decibels for JSON with one decimal; nil if they are not finite.
    private static func decibels(_ value: Double) -> Double? {
        value.isFinite ? (value * 10).rounded() / 10 : nil
    }

    /// Returns an accuracy for JSON, rounded to the centimeter, which is finer than any estimate. A value that is not
    /// finite becomes -1, an unknown distance.
    static func finite(_ accuracy: Double) -> Double {
        let centimeters = (accuracy * 100).rounded()
        return centimeters.isFinite ? centimeters / 100 : -1
    }
}

/// A beacon in JSON: its identity, and the user's name and attributes for it.
private struct IdentifiedBeacon: Codable {
    var identity: BeaconIdentity
    var name: String?
    var attributes: [String: String]?

    private enum CodingKeys: CodingKey {
        case name, attributes
    }

    init(identity: BeaconIdentity, name: String?, attributes: [String: String]?) {
        (self.identity, self.name, self.attributes) = (identity, name, attributes)
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        name = try values.decodeIfPresent(String.self, forKey: .name)
        attributes = try values.decodeIfPresent([String: String].self, forKey: .attributes)
        identity = try BeaconIdentity(from: decoder)
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(name, forKey: .name)
        try values.encodeIfPresent(attributes, forKey: .attributes)
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
