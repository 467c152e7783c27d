public import BeaconModel

/// A message to a backend about a region that was entered or left, about a beacon's proximity, or about who is present.
///
/// Foundation has a type named `Notification`, which most programs import as well.
public struct BeaconNotification: Hashable, Sendable, Identifiable {
    /// The notification's name, the same each time that it is sent.
    public private(set) var id: EventID

    /// The kind of notification.
    public let kind: Kind

    /// The moment of the event, since 1970, to the millisecond.
    public let time: Timestamp

    /// The region; nil where the beacon was heard outside of all named regions, and in a heartbeat.
    public var region: Region?

    /// The beacon, where the notification is about one.
    public var beacon: BeaconIdentity?

    /// The user's name for the beacon; nil where it has none.
    public var beaconName: String?

    /// The beacon's proximity; nil where the notification is not about proximity.
    public var proximity: Proximity?

    /// The estimated distance in metres, -1 where it is unknown.
    public var accuracy: Double?

    /// The signal in dBm; nil where there was no reading.
    public var rssi: Int?

    /// The beacon's measured power, its signal at one metre in dBm, where it is known.
    public var measuredPower: Int?

    /// The receiver that heard the beacon, where one did.
    public var receiver: String?

    /// The place that the beacon is in; nil where it has left all of them, or the notification is not about places.
    public var place: String?

    /// The place that it was in before; nil where that was none, or it is not known.
    public var before: String?

    /// The decibels by which the place leads the next one.
    public var margin: Double?

    /// The place that comes next.
    public var runnerUp: String?

    /// Why more than one device is suspected behind the beacon's identity; nil where the notification is not about
    /// that.
    public var suspicion: SuspicionGrounds?

    /// The user whom the notification concerns, as the application names them. Kumulos wants it.
    public var user: String?

    /// The name of an event of the application's own.
    public var name: String?

    /// The properties of an event of the application's own.
    public var properties: [String: JSONValue]?

    /// The regions and their beacons, in a heartbeat.
    public var presence: [Presence]?

    /// A notification with no more than its name, kind and time.
    ///
    /// - Parameters:
    ///   - id: the name.
    ///   - kind: the kind of notification.
    ///   - time: the moment since 1970; it is kept to the millisecond.
    public init(id: EventID, kind: Kind, time: Timestamp) {
        self.id = id
        self.kind = kind
        self.time = Timestamp(nanoseconds: (time.nanoseconds + 500_000) / 1_000_000 * 1_000_000)
    }

    /// Returns the notification under another name: that of the event that it tells of, where another machine may tell
    /// of it as well.
    package func named(_ id: EventID) -> BeaconNotification {
        var other = self
        other.id = id
        return other
    }
}

extension BeaconNotification {
    /// A kind of notification. More may come, also from the store of a newer version, so a `switch` needs a default.
    public struct Kind: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
        /// The kind's word in JSON.
        public let rawValue: String

        /// A kind of this word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A region was entered.
        public static let enter = Kind(rawValue: "enter")
        /// A region was left.
        public static let exit = Kind(rawValue: "exit")
        /// A beacon is new, or its proximity has changed.
        public static let proximity = Kind(rawValue: "proximity")
        /// A beacon that a notification named is no longer heard.
        public static let gone = Kind(rawValue: "gone")
        /// A beacon has come into a place, or has left all places.
        public static let place = Kind(rawValue: "place")
        /// A beacon's identity is heard as no single device can be.
        public static let suspicious = Kind(rawValue: "suspicious")
        /// The beacons that are present in each region, from time to time, so that a receiver that missed something
        /// recovers.
        public static let heartbeat = Kind(rawValue: "heartbeat")
        /// An event of the application's own, with a name and properties. Kumulos takes it.
        public static let application = Kind(rawValue: "application")

        /// The kind's word.
        public var description: String { rawValue }
    }

    /// A region with the user's name for it.
    public struct Region: Hashable, Sendable, CustomStringConvertible {
        /// The user's name for the region.
        public var name: String

        /// The beacons that belong to the region.
        public var constraint: BeaconConstraint

        /// A region of this name.
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

/// The form in JSON: the event store keeps it, webhooks send it in `data`, and brokers receive it.
/// Its keys are those of the command line's JSON lines where both have the same thing; keys without a value are left
/// out.
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

    /// Reads the form in JSON and ignores unknown keys.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let seconds = try values.decode(Double.self, forKey: .time)
        guard let time = Timestamp(seconds: seconds) else {
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
        suspicion = try values.decodeIfPresent(SuspicionGrounds.self, forKey: .suspicion)
        user = try values.decodeIfPresent(String.self, forKey: .user)
        name = try values.decodeIfPresent(String.self, forKey: .name)
        properties = try values.decodeIfPresent([String: JSONValue].self, forKey: .properties)
        presence = try values.decodeIfPresent([Presence].self, forKey: .presence)
    }

    /// Writes the form in JSON.
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
        // JSON has no number that is none.
        try values.encodeIfPresent(margin.flatMap { $0.isFinite ? $0 : nil }, forKey: .margin)
        try values.encodeIfPresent(runnerUp, forKey: .runnerUp)
        try values.encodeIfPresent(suspicion, forKey: .suspicion)
        try values.encodeIfPresent(user, forKey: .user)
        try values.encodeIfPresent(name, forKey: .name)
        try values.encodeIfPresent(properties, forKey: .properties)
        try values.encodeIfPresent(presence, forKey: .presence)
    }

    /// Returns an accuracy that JSON can hold, to the centimetre, which is finer than any estimate: one that is not
    /// finite becomes -1, an unknown distance.
    static func finite(_ accuracy: Double) -> Double {
        let centimetres = (accuracy * 100).rounded()
        return centimetres.isFinite ? centimetres / 100 : -1
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

    /// Reads the name and the constraint, which share one JSON object.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            name: try values.decode(String.self, forKey: .name), constraint: try BeaconConstraint(from: decoder))
    }

    /// Writes the name and the constraint into one JSON object.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(name, forKey: .name)
        try constraint.encode(to: encoder)
    }
}
