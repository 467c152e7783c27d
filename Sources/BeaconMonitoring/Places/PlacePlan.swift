public import BeaconEngine
import BeaconModel

/// A user's named places in which beacons are located, and their receivers.
///
/// A receiver that has not appeared, because the source does not have it or has not opened yet, counts as deaf. If a
/// place has no other receiver, the beacons that may be in it have an unknown location.
public struct PlacePlan: Hashable, Sendable, Codable {
    /// A place: a room, a floor or a shop.
    public struct Place: Hashable, Sendable, Codable {
        /// The user's name for it.
        public var name: String

        /// The names of its receivers, as the source has them.
        public var receivers: [String]

        /// The id in Home Assistant; nil for one made from the first receiver.
        public var id: String?

        /// Creates a place.
        ///
        /// - Parameters:
        ///   - name: the user's name for it.
        ///   - receivers: the names of its receivers, as the source has them.
        ///   - id: the id in Home Assistant; nil for one made from the first receiver.
        public init(name: String, receivers: [String], id: String? = nil) {
            self.name = name
            self.receivers = receivers
            self.id = id
        }
    }

    /// The places.
    public var places: [Place]

    /// The taught map, or nil. It decides instead of the strongest receiver if one of its places has no receiver, or
    /// one of its receivers no place. Its places also belong to the plan.
    public var taught: TaughtMap?

    /// The rules of the decision.
    public var rules = PlaceRules()

    /// True to report each second, not only changes.
    public var reportsEachSecond = false

    /// The names of receivers that are treated as deaf, whatever they hear. This shows what the other receivers would
    /// decide without them.
    public var deafReceivers: Set<String> = []

    /// Creates a plan of places.
    public init(_ places: [Place]) { self.places = places }

    /// The names of all receivers, each once: the receivers of the places in order, then others that took part in
    /// teaching.
    package var receiverNames: [String] {
        var seen: Set<String> = []
        return (places.flatMap(\.receivers) + (taught?.receiverNames ?? [])).filter { seen.insert($0).inserted }
    }

    /// The names of all places: the places of the plan, then others that were taught.
    package var placeNames: [String] {
        let names = places.map(\.name)
        return names + (taught?.places.map(\.name) ?? []).filter { !names.contains($0) }
    }

    /// The plan in the engine's form, with numbers in place of names.
    var map: PlaceMap {
        var placeOf: [String: Int] = [:]
        for (number, place) in places.enumerated() {
            for receiver in place.receivers where placeOf[receiver] == nil { placeOf[receiver] = number }
        }
        let (names, receivers) = (placeNames, receiverNames)
        let known = Set(placeOf.keys)
        for receiver in receivers where !known.contains(receiver) {
            placeOf[receiver] = taught?.likelyPlace(of: receiver).flatMap { names.firstIndex(of: $0) }
        }
        var map = PlaceMap(placeCount: names.count, receivers: receivers.map { placeOf[$0] })
        map.guessed = Set(receivers.indices.filter { !known.contains(receivers[$0]) })
        map.taught = taught?.points(placeNames: names, receivers: receivers) ?? []
        map.rules = rules
        map.reportsEachSecond = reportsEachSecond
        return map
    }

    /// Returns a sentence about the first mistake in the plan; nil if it is valid.
    public func mistake() -> String? {
        if placeNames.isEmpty { return "no places; add at least one" }
        var owners: [String: String] = [:]
        var names: Set<String> = []
        for place in places {
            guard !place.name.isEmpty else { return "a place has no name" }
            guard names.insert(place.name).inserted else {
                return "\"\(place.name)\" is listed twice; list all receivers of a place together"
            }
            for receiver in place.receivers {
                guard !receiver.isEmpty else { return "\"\(place.name)\" has a receiver without a name" }
                if let other = owners.updateValue(place.name, forKey: receiver) {
                    return
                        "the receiver \"\(receiver)\" is in \"\(other)\" and in \"\(place.name)\"; a receiver can be "
                        + "in one place"
                }
            }
        }
        guard placeNames.count <= PlaceMap.maximumPlaces else {
            return "\(placeNames.count) places exceed the maximum of \(PlaceMap.maximumPlaces)"
        }
        let count = receiverNames.count
        guard count <= PlaceMap.maximumReceivers else {
            return "\(count) receivers exceed the maximum of \(PlaceMap.maximumReceivers)"
        }
        return nil
    }
}
