public import BeaconEngine
public import BeaconModel

/// Something worth telling a backend: a region was entered or left, a beacon is new or at another nearness, or who is
/// present.
///
/// Foundation has a `Notification`, and most who use this one use Foundation.
public struct BeaconNotification: Hashable, Sendable, Identifiable {
    /// Its name, the same each time that it is sent.
    public let id: NotificationID

    /// What it tells.
    public let kind: Kind

    /// When it happened, since 1970, to the millisecond.
    public let time: Timestamp

    /// The region; nil where the beacon was heard outside of all named regions, and in a heartbeat.
    public var region: Region?

    /// The beacon, where it is about one.
    public var beacon: BeaconIdentity?

    /// How near the beacon is; nil where it is not about nearness.
    public var proximity: Proximity?

    /// The estimated distance in metres, -1 where it cannot be told.
    public var accuracy: Double?

    /// The signal in dBm; nil where there was no reading.
    public var rssi: Int?

    /// The signal at one metre in dBm that the beacon states, where it is known.
    public var measuredPower: Int?

    /// The receiver that heard it, where one did.
    public var receiver: String?

    /// The user whom the application says that it is about. Kumulos wants it.
    public var user: String?

    /// In a heartbeat, the regions and who is in them.
    public var presence: [Presence]?

    /// A notification of which nothing but its name, kind and time is known yet.
    ///
    /// - Parameter time: since 1970; it is kept to the millisecond.
    public init(id: NotificationID, kind: Kind, time: Timestamp) {
        self.id = id
        self.kind = kind
        self.time = Timestamp(nanoseconds: (time.nanoseconds + 500_000) / 1_000_000 * 1_000_000)
    }
}
