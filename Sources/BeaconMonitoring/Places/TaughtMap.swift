import BeaconEngine

/// The signal levels at spots of places, which a user taught by standing there, and the format of their file.
///
/// ```json
/// {"version":1,"places":[{"name":"kitchen","points":[{"R1":-14.2,"R2":null}]}]}
/// ```
///
/// A level is in decibels relative to the beacon's measured power, so that it applies to other beacons too. A null
/// stands for a receiver that heard nothing.
public struct TaughtMap: Hashable {
    /// A place and its taught points.
    public struct Place: Hashable, Sendable, Codable {
        /// The user's name for it.
        public var name: String

        /// For each point, the levels by receiver name. A receiver that did not take part is omitted.
        public var points: [[String: Double?]]
    }

    /// The version of the file format.
    public var version = 1

    /// The places, in the order in which they were first taught.
    public var places: [Place] = []

    /// Creates an empty map.
    public init() {}

    /// The names of all receivers that took part, in order.
    public var receiverNames: [String] { Set(places.flatMap(\.points).flatMap(\.keys)).sorted() }

    /// Adds points to a place.
    public mutating func add(_ points: [[String: Double?]], to name: String) {
        guard !points.isEmpty else { return }
        if let index = places.firstIndex(where: { $0.name == name }) {
            places[index].points += points
        } else {
            places.append(Place(name: name, points: points))
        }
    }

    /// Removes a place and its points.
    ///
    /// - Returns: true if the place existed.
    public mutating func remove(_ name: String) -> Bool {
        let count = places.count
        places.removeAll { $0.name == name }
        return places.count < count
    }

    /// How much louder a receiver must be in its likely place than in any other place, in decibels.
    private static let clearLead = 3.0

    /// Returns the likely place of a receiver without a configured place: the place where it was loudest, if that is
    /// clear.
    func likelyPlace(of receiver: String) -> String? {
        let loudest = places.compactMap { place in
            place.points.compactMap { $0[receiver] ?? nil }.max().map { (name: place.name, level: $0) }
        }.sorted { $0.level > $1.level }
        guard let first = loudest.first else { return nil }
        return loudest.count < 2 || first.level - loudest[1].level >= Self.clearLead ? first.name : nil
    }

    /// Returns the points in the engine's form.
    ///
    /// - Parameters:
    ///   - placeNames: the names of the engine's places, by number.
    ///   - receivers: the names of its receivers, by number.
    func points(placeNames: [String], receivers: [String]) -> [TaughtPoint] {
        places.flatMap { place -> [TaughtPoint] in
            guard let number = placeNames.firstIndex(of: place.name) else { return [] }
            return place.points.map { point in
                TaughtPoint(
                    place: number,
                    levels: receivers.map { name in
                        switch point[name] {
                        case .none: .absent
                        case .some(.none): .silent
                        case .some(.some(let level)): .heard(level)
                        }
                    })
            }
        }
    }
}

extension TaughtMap: MeasurementFile {
    /// Taught places.
    public static var contents: String { "taught places" }

    /// `beacon teach`.
    public static var maker: String { "beacon teach" }

    /// The error in the levels; nil if all are valid.
    public var fault: String? {
        let levels = places.flatMap(\.points).flatMap(\.values)
        return levels.allSatisfy { $0.map(\.isFinite) ?? true } ? nil : "a level is not a number"
    }
}
