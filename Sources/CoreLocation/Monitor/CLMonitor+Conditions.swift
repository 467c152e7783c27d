internal import BeaconModel

extension CLMonitor {
    /// A condition that is satisfied while at least one beacon with a UUID, a major and a minor value is heard.
    ///
    /// It is encoded with the keys `uuid`, `major` and `minor`; nil values are omitted. Apple's format is not
    /// documented.
    public struct BeaconIdentityCondition: CLCondition, Sendable {
        /// The proximity UUID, which must always match.
        public let uuid: UUID

        /// The major value; nil matches any.
        public let major: UInt16?

        /// The minor value; nil matches any. It is nil whenever ``major`` is.
        public let minor: UInt16?

        /// Creates a condition for all beacons of a proximity UUID.
        public init(uuid: UUID) {
            self.uuid = uuid
            major = nil
            minor = nil
        }

        /// Creates a condition for the beacons with one major value.
        public init(uuid: UUID, major: UInt16) {
            self.uuid = uuid
            self.major = major
            minor = nil
        }

        /// Creates a condition for the beacons with one identity.
        public init(uuid: UUID, major: UInt16, minor: UInt16) {
            self.uuid = uuid
            self.major = major
            self.minor = minor
        }

        /// Decodes a condition.
        ///
        /// - Throws: `DecodingError` if the UUID is missing, or if there is a minor value without a major value.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            uuid = try values.decode(UUID.self, forKey: .uuid)
            major = try values.decodeIfPresent(UInt16.self, forKey: .major)
            minor = try values.decodeIfPresent(UInt16.self, forKey: .minor)
            if major == nil, minor != nil {
                throw DecodingError.dataCorruptedError(
                    forKey: .minor, in: values, debugDescription: "a minor value requires a major value")
            }
        }
    }
}

extension CLMonitor {
    /// A condition that is satisfied while the device is in a circle on the ground.
    ///
    /// It can be created and stored. A monitor reports it as unsupported, since positions are not available here.
    public struct CircularGeographicCondition: CLCondition, Sendable {
        /// The center of the circle.
        public let center: CLLocationCoordinate2D

        /// The radius in meters.
        public let radius: CLLocationDistance

        /// Creates a condition for a circle around `center`.
        ///
        /// - Parameters:
        ///   - center: the center of the circle.
        ///   - radius: the radius in meters.
        public init(center: CLLocationCoordinate2D, radius: CLLocationDistance) {
            self.center = center
            self.radius = radius
        }

        /// Decodes a condition.
        ///
        /// - Throws: `DecodingError` if a number is missing.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            center = CLLocationCoordinate2D(
                latitude: try values.decode(Double.self, forKey: .latitude),
                longitude: try values.decode(Double.self, forKey: .longitude))
            radius = try values.decode(Double.self, forKey: .radius)
        }

        /// Encodes the condition.
        public func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(center.latitude, forKey: .latitude)
            try values.encode(center.longitude, forKey: .longitude)
            try values.encode(radius, forKey: .radius)
        }

        private enum CodingKeys: String, CodingKey {
            case latitude, longitude, radius
        }
    }
}

/// A condition that a ``CLMonitor`` can monitor.
///
/// As in Apple's SDK, it only requires that a condition can be stored. A monitor supports the conditions that are
/// nested in it, and reports any other condition as unsupported.
public protocol CLCondition: Decodable, Encodable, Sendable {}

/// The meaning of a condition to a monitor, in a comparable form.
enum ConditionKind: Hashable, Sendable {
    /// Beacons of a constraint.
    case beacons(BeaconConstraint)
    /// A circle on the ground.
    case disc(latitude: Double, longitude: Double, radius: Double)
    /// A condition type of the application, which a monitor cannot interpret.
    case foreign

    init(_ condition: any CLCondition) {
        switch condition {
        case let condition as CLMonitor.BeaconIdentityCondition:
            self = .beacons(BeaconConstraint(condition))
        case let condition as CLMonitor.CircularGeographicCondition:
            self = .disc(
                latitude: condition.center.latitude, longitude: condition.center.longitude, radius: condition.radius)
        default:
            self = .foreign
        }
    }

    /// A Boolean value indicating whether the condition can be monitored.
    var isSupported: Bool {
        if case .beacons = self { true } else { false }
    }
}
