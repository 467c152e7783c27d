import BeaconEngine

/// How beacons are heard at spots of places, as somebody taught it by standing there, and its file.
///
/// ```json
/// {"version":1,"places":[{"name":"kitchen","points":[{"R1":-14.2,"R2":null}]}]}
/// ```
///
/// A level is in decibels above the beacon's measured power, so that other beacons are recognized too; null stands for
/// a receiver that heard nothing.
public struct TaughtMap: Hashable {
    /// A place and the points that were taught in it.
    public struct Place: Hashable, Sendable, Codable {
        /// The user's name for it.
        public var name: String

        /// For each point, the levels by the receivers' names. A receiver that was not there is left out.
        public var points: [[String: Double?]]
    }

    /// The version of the form.
    public var version = 1

    /// The places, in the order in which they were first taught.
    public var places: [Place] = []

    /// Creates a map of nothing.
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

    /// Removes what was taught of a place.
    ///
    /// - Returns: false where nothing was.
    public mutating func remove(_ name: String) -> Bool {
        let count = places.count
        places.removeAll { $0.name == name }
        return places.count < count
    }

    /// The decibels by which a receiver is louder in the place that it is likely in than in any other.
    private static let clearLead = 3.0

    /// Returns the place that a receiver is likely in, of which nobody has said where it is: the one where it was heard
    /// loudest, if that is clear.
    func likelyPlace(of receiver: String) -> String? {
        let loudest = places.compactMap { place in
            place.points.compactMap { $0[receiver] ?? nil }.max().map { (name: place.name, level: $0) }
        }.sorted { $0.level > $1.level }
        guard let first = loudest.first else { return nil }
        return loudest.count < 2 || first.level - loudest[1].level >= Self.clearLead ? first.name : nil
    }

    /// Returns the points as the engine has them.
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

    /// A level that cannot be; nil where all can.
    public var fault: String? {
        let levels = places.flatMap(\.points).flatMap(\.values)
        return levels.allSatisfy { $0.map(\.isFinite) ?? true } ? nil : "it has a level that is no number"
    }
}
