extension CLMonitor {
    /// Holds while at least one beacon of a UUID, a major and a minor value is heard.
    ///
    /// It is stored with the keys `uuid`, `major` and `minor`, and what is nil is left out; Apple's form is not known.
    public struct BeaconIdentityCondition: CLCondition, Sendable {
        /// The deployment, which always has to match.
        public let uuid: UUID

        /// The major value, or nil where any will do.
        public let major: UInt16?

        /// The minor value, or nil where any will do. Nil whenever ``major`` is.
        public let minor: UInt16?

        /// All beacons of a deployment.
        public init(uuid: UUID) {
            self.uuid = uuid
            major = nil
            minor = nil
        }

        /// The beacons of one major value.
        public init(uuid: UUID, major: UInt16) {
            self.uuid = uuid
            self.major = major
            minor = nil
        }

        /// The beacons of one identity.
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
