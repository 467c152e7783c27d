/// Something that happened, as Kumulos' servers take it.
///
/// The form is that of Kumulos' SDK for Swift, version 10.0.0.
public struct KumulosEvent: Hashable, Sendable, Codable {
    /// What Kumulos calls the nearness of a beacon.
    public static let beaconEnteredProximity = "k.engage.beaconEnteredProximity"

    /// What kind of event it is.
    public var type: String
    /// The event's own name, a UUID in lower case, by which a receiver knows one that comes twice.
    public var uuid: String
    /// When it happened, in milliseconds since 1970.
    public var timestamp: Int64
    /// What happened.
    public var data: BeaconProximity
    /// The user that the app associated with this installation, or the installation.
    public var userId: String

    /// A beacon and how near it is.
    public struct BeaconProximity: Hashable, Sendable, Codable {
        /// 1 for iBeacon.
        public var type = 1
        /// The deployment's UUID in upper case.
        public var uuid: String
        /// The major value, as text.
        public var major: String
        /// The minor value, as text.
        public var minor: String
        /// Core Location's number: 0 unknown, 1 immediate, 2 near, 3 far.
        public var proximity: Int
    }
}
