internal import BeaconModel

extension CLMonitor {
    /// A condition that holds while at least one beacon of a UUID, a major and a minor value is heard.
    ///
    /// It is stored with the keys `uuid`, `major` and `minor`, and what is nil is left out; Apple's form is not known.
    public struct BeaconIdentityCondition: CLCondition, Sendable {
        /// The proximity UUID, which always has to match.
        public let uuid: UUID

        /// The major value, or nil where any will do.
        public let major: UInt16?

        /// The minor value, or nil where any will do. Nil whenever ``major`` is.
        public let minor: UInt16?

        /// Creates a condition for all beacons of a proximity UUID.
        public init(uuid: UUID) {
            self.uuid = uuid
            major = nil
            minor = nil
        }

        /// Creates a condition for the beacons of one major value.
        public init(uuid: UUID, major: UInt16) {
            self.uuid = uuid
            self.major = major
            minor = nil
        }

        /// Creates a condition for the beacons of one identity.
        public init(uuid: UUID, major: UInt16, minor: UInt16) {
            self.uuid = uuid
            self.major = major
            self.minor = minor
        }

        /// Reads a stored condition.
        ///
        /// - Throws: `DecodingError` if there is no UUID, or a minor value without a major one.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            uuid = try values.decode(UUID.self, forKey: .uuid)
            major = try values.decodeIfPresent(UInt16.self, forKey: .major)
            minor = try values.decodeIfPresent(UInt16.self, forKey: .minor)
            if major == nil, minor != nil {
                throw DecodingError.dataCorruptedError(
                    forKey: .minor, in: values, debugDescription: "a minor value comes only with a major value")
            }
        }

        /// Stores the condition.
        public func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(uuid, forKey: .uuid)
            try values.encodeIfPresent(major, forKey: .major)
            try values.encodeIfPresent(minor, forKey: .minor)
        }

        private enum CodingKeys: String, CodingKey {
            case uuid, major, minor
        }
    }
}

extension CLMonitor {
    /// A condition that holds while the device is in a disc on the ground.
    ///
    /// It can be made and stored. A monitor reports it as not supported, since no position is known here.
    public struct CircularGeographicCondition: CLCondition, Sendable {
        /// The middle.
        public let center: CLLocationCoordinate2D

        /// From the middle to the edge, in metres.
        public let radius: CLLocationDistance

        /// Creates a condition for a disc around `center`.
        ///
        /// - Parameters:
        ///   - center: the middle of the disc.
        ///   - radius: the radius in metres.
        public init(center: CLLocationCoordinate2D, radius: CLLocationDistance) {
            self.center = center
            self.radius = radius
        }

        /// Reads a stored condition.
        ///
        /// - Throws: `DecodingError` if a number is missing.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            center = CLLocationCoordinate2D(
                latitude: try values.decode(Double.self, forKey: .latitude),
                longitude: try values.decode(Double.self, forKey: .longitude))
            radius = try values.decode(Double.self, forKey: .radius)
        }

        /// Stores the condition.
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
/// As in Apple's SDK there is nothing in it but the ability to be stored. A monitor knows the conditions nested in it;
/// any other is reported as not supported.
public protocol CLCondition: Decodable, Encodable, Sendable {}

/// The meaning of a condition to a monitor, in a form that can be compared.
enum ConditionKind: Hashable, Sendable {
    /// Beacons of a constraint.
    case beacons(BeaconConstraint)
    /// A disc on the ground.
    case disc(latitude: Double, longitude: Double, radius: Double)
    /// Something of the application's own, of which nothing is known.
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

    /// A Boolean value that says that it can be monitored.
    var isSupported: Bool {
        if case .beacons = self { true } else { false }
    }
}
