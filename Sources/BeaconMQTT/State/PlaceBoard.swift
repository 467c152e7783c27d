import BeaconModel

/// The occupancy of places, by the beacons that count.
///
/// A place is occupied while a beacon that counts is in it. It is unknown, and never empty, while none of its receivers
/// hears, and while a beacon that was last in it may still be there.
struct PlaceBoard: Sendable {
    /// The retained state of a place.
    struct State: Hashable, Sendable, Encodable {
        /// The names of the beacons, sorted; nil if unknown.
        var beacons: [String]?
        var count: Int?
        var hears: Bool?
        var occupied: Bool?

        private enum CodingKeys: String, CodingKey {
            case beacons, count, hears, occupied
        }

        /// Encodes every key, and unknown values as null, because templates read every key.
        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(beacons, forKey: .beacons)
            try values.encode(count, forKey: .count)
            try values.encode(hears, forKey: .hears)
            try values.encode(occupied, forKey: .occupied)
        }
    }

    private enum Whereabouts: Hashable {
        case place(String)
        case nowhere
        /// Unknown, with the last known place; nil if that is not known either.
        case unknown(last: String?)
    }

    /// The most beacons that are named. Home Assistant does not store attributes of more than 16 KiB.
    static let maximumNames = 100

    /// The places.
    let places: [NamedPlace]

    /// The named beacons, and those of them that count.
    private let named: Set<BeaconIdentity>
    private let counted: [BeaconIdentity: String]
    private var whereabouts: [BeaconIdentity: Whereabouts] = [:]
    /// Whether each receiver hears; nil before the first diagnostics.
    private var hearing: [String: Bool?]?

    init(_ places: [NamedPlace], _ beacons: [NamedBeacon]) {
        self.places = places
        named = Set(beacons.map(\.identity))
        counted = Dictionary(beacons.filter(\.counts).map { ($0.identity, $0.name) }) { first, _ in first }
    }

    /// Continues the states of an earlier configuration.
    ///
    /// - Parameters:
    ///   - other: the earlier configuration.
    ///   - renamed: the new names of places, by the old ones.
    mutating func adopt(_ other: PlaceBoard, renamed: [String: String]) {
        hearing = other.hearing
        whereabouts = other.whereabouts.mapValues { place in
            switch place {
            case .place(let name): .place(renamed[name] ?? name)
            case .nowhere: .nowhere
            case .unknown(let last): .unknown(last: last.map { renamed[$0] ?? $0 })
            }
        }
    }

    /// Processes a change of place. Those of beacons without a name are ignored.
    mutating func receive(_ change: PlaceEvent) {
        guard named.contains(change.identity) else { return }
        switch (change.state, change.place, whereabouts[change.identity]) {
        case (.inside, let place?, _): whereabouts[change.identity] = .place(place)
        case (.outside, _, _): whereabouts[change.identity] = .nowhere
        case (_, _, .place(let last)?): whereabouts[change.identity] = .unknown(last: last)
        case (_, _, .unknown(let last)?): whereabouts[change.identity] = .unknown(last: change.before ?? last)
        // A beacon that was nowhere and is unknown may have come anywhere.
        case (_, _, _): whereabouts[change.identity] = .unknown(last: change.before)
        }
    }

    /// Sets whether each receiver hears. A receiver that is missing does not.
    mutating func setHearing(_ hearing: [String: Bool?]) { self.hearing = hearing }

    /// Returns the state of a place.
    func state(of place: NamedPlace) -> State {
        guard let hears = hears(place) else { return State() }
        guard hears else { return State(hears: false) }
        var names: [String] = []
        var mayBeThere = false
        for (identity, name) in counted {
            switch whereabouts[identity] ?? .unknown(last: nil) {
            case .place(place.name): names.append(name)
            case .unknown(let last): mayBeThere = mayBeThere || last == nil || last == place.name
            case .place, .nowhere: break
            }
        }
        if names.isEmpty, mayBeThere { return State(hears: true) }
        return State(
            beacons: Array(names.sorted().prefix(Self.maximumNames)), count: names.count, hears: true,
            occupied: !names.isEmpty)
    }

    /// Returns whether a receiver of a place hears; nil if that is not known. A place that was only taught has no
    /// separate receivers, and any receiver counts for it.
    private func hears(_ place: NamedPlace) -> Bool? {
        guard let hearing else { return nil }
        let states = place.receivers.isEmpty ? hearing.values.map { $0 } : place.receivers.map { hearing[$0] ?? false }
        if states.contains(true) { return true }
        return states.contains(nil) ? nil : false
    }
}
