import BeaconModel
import BeaconSupport

/// The occupancy of places, by the beacons that count.
///
/// A place is occupied while a beacon that counts is in it. It is unknown, and never empty, while none of its receivers
/// hears, and while a beacon that was last in it may still be there.
struct PlaceBoard: Sendable {
    /// The retained state of a place.
    struct State: Hashable, Sendable, Encodable {
        // Templates read every key.
        /// The names of the beacons, sorted; nil if unknown.
        @Nullable var beacons: [String]?
        @Nullable var count: Int?
        @Nullable var hears: Bool?
        @Nullable var occupied: Bool?
    }

    private enum Whereabouts: Hashable {
        case place(String)
        case nowhere
        /// Unknown, with the last known place; nil if that is not known either.
        case unknown(last: String?)

        /// The place where the beacon is or last was; nil for none.
        var place: String? {
            switch self {
            case .place(let name): name
            case .nowhere: nil
            case .unknown(let last): last
            }
        }
    }

    /// The most beacons that are named, and the most bytes of their names in JSON. Home Assistant does not store
    /// attributes of more than 16 KiB.
    static let (maximumNames, maximumBytes) = (100, 15_000)

    /// The places.
    let places: [NamedPlace]

    /// The places' indices by name.
    private let indices: [String: Int]

    /// The named beacons, and those of them that count.
    private let named: Set<BeaconIdentity>
    private let counted: [BeaconIdentity: String]
    private var whereabouts: [BeaconIdentity: Whereabouts] = [:]

    /// The beacons that count by their places, the number of those that may still be in a place, and of those that may
    /// be anywhere.
    private var occupants: [String: Set<BeaconIdentity>] = [:]
    private var doubts: [String: Int] = [:]
    private var strays = 0

    /// Whether each receiver hears; nil before the first diagnostics.
    private var hearing: [String: Bool?]?

    init(_ places: [NamedPlace], _ beacons: [NamedBeacon]) {
        self.places = places
        indices = Dictionary(places.enumerated().map { ($1.name, $0) }) { first, _ in first }
        named = Set(beacons.map(\.identity))
        counted = Dictionary(beacons.filter(\.occupies).map { ($0.identity, $0.name) }) { first, _ in first }
        strays = counted.count
    }

    /// Continues the states of an earlier configuration.
    ///
    /// - Parameters:
    ///   - other: the earlier configuration.
    ///   - renamed: the new names of places, by the old ones.
    mutating func adopt(_ other: PlaceBoard, renamed: [String: String]) {
        hearing = other.hearing
        for (beacon, place) in other.whereabouts where named.contains(beacon) {
            switch place {
            case .place(let name): move(beacon, to: .place(renamed[name] ?? name))
            case .nowhere: move(beacon, to: .nowhere)
            case .unknown(let last): move(beacon, to: .unknown(last: last.map { renamed[$0] ?? $0 }))
            }
        }
    }

    /// Processes a change of place. Those of beacons without a name are ignored.
    ///
    /// - Returns: The indices of the places whose states may have changed.
    mutating func receive(_ change: PlaceEvent) -> [Int] {
        guard named.contains(change.identity) else { return [] }
        let next: Whereabouts =
            switch (change.state, change.place, whereabouts[change.identity]) {
            case (.inside, let place?, _): .place(place)
            case (.outside, _, _): .nowhere
            case (_, _, .place(let last)?): .unknown(last: last)
            case (_, _, .unknown(let last)?): .unknown(last: change.before ?? last)
            // A beacon that was nowhere and is unknown may have come anywhere.
            case (_, _, _): .unknown(last: change.before)
            }
        return move(change.identity, to: next)
    }

    /// Moves a beacon.
    ///
    /// - Returns: The indices of the places whose states may have changed.
    @discardableResult
    private mutating func move(_ beacon: BeaconIdentity, to next: Whereabouts) -> [Int] {
        let before = whereabouts.updateValue(next, forKey: beacon) ?? .unknown(last: nil)
        guard counted[beacon] != nil, before != next else { return [] }
        let hadStrays = strays > 0
        switch before {
        case .place(let name): occupants[name]?.remove(beacon)
        case .nowhere: break
        case .unknown(let last?): doubts[last, default: 0] -= 1
        case .unknown(nil): strays -= 1
        }
        switch next {
        case .place(let name): occupants[name, default: []].insert(beacon)
        case .nowhere: break
        case .unknown(let last?): doubts[last, default: 0] += 1
        case .unknown(nil): strays += 1
        }
        guard hadStrays == (strays > 0) else { return Array(places.indices) }
        return Set([before, next].compactMap(\.place)).compactMap { indices[$0] }.sorted()
    }

    /// Sets whether each receiver hears. A receiver that is missing does not.
    ///
    /// - Returns: The indices of the places whose states may have changed.
    mutating func setHearing(_ hearing: [String: Bool?]) -> [Int] {
        guard self.hearing != hearing else { return [] }
        let before = places.map(hears)
        self.hearing = hearing
        return places.indices.filter { before[$0] != hears(places[$0]) }
    }

    /// Returns the state of a place.
    func state(of place: NamedPlace) -> State {
        guard let hears = hears(place) else { return State() }
        guard hears else { return State(hears: false) }
        let beacons = occupants[place.name] ?? []
        if beacons.isEmpty, strays > 0 || doubts[place.name] ?? 0 > 0 { return State(hears: true) }
        let names = beacons.compactMap { counted[$0] }.sorted()
        return State(beacons: Self.listed(names), count: names.count, hears: true, occupied: !names.isEmpty)
    }

    /// Returns the first names, as many as Home Assistant stores.
    private static func listed(_ names: [String]) -> [String] {
        var bytes = 0
        return Array(
            names.prefix(maximumNames).prefix { name in
                // Two quotation marks and a comma; control characters are written as \u0000.
                bytes += 3
                for byte in name.utf8 { bytes += byte < 0x20 ? 6 : byte == 0x22 || byte == 0x5C ? 2 : 1 }
                return bytes <= maximumBytes
            })
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
