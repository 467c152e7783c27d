extension CLMonitor {
    /// Holds while the device is in a disc on the ground.
    ///
    /// It can be made and stored. A monitor reports it as not supported, since no position is known here.
    public struct CircularGeographicCondition: CLCondition, Sendable {
        /// The middle.
        public let center: CLLocationCoordinate2D

        /// From the middle to the edge, in metres.
        public let radius: CLLocationDistance

        /// A disc around `center`.
        ///
        /// - Parameter radius: in metres.
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
