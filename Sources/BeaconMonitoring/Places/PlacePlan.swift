public import BeaconEngine
import BeaconModel

/// The places in which beacons are located, by the names that people gave them and their receivers.
///
/// A receiver that is named and has not come, since its source does not have it or has not opened so far, is deaf:
/// where a place has no other, the beacons that may be in it are somewhere unknown.
public struct PlacePlan: Hashable, Sendable {
    /// A place: a room, a floor, a shop.
    public struct Place: Hashable, Sendable {
        /// The user's name for it.
        public var name: String

        /// The names of its receivers, as the source has them.
        public var receivers: [String]

        /// Creates a place.
        ///
        /// - Parameters:
        ///   - name: the user's name for it.
        ///   - receivers: the names of its receivers, as the source has them.
        public init(name: String, receivers: [String]) {
            self.name = name
            self.receivers = receivers
        }
    }

    /// The places.
    public var places: [Place]

    /// What was taught of places, which then decides in place of the strongest receiver; nil where nothing was. Its
    /// places are places of the plan too, with or without receivers of their own.
    public var taught: TaughtMap?

    /// The rules of the decision.
    public var rules = PlaceRules()

    /// True where there is a report each second, and not only changes.
    public var reportsEachSecond = false

    /// The names of receivers that are taken for deaf, whatever they hear: it shows what the others decide without
    /// them.
    public var deafReceivers: Set<String> = []

    /// Creates a plan of places.
    public init(_ places: [Place]) { self.places = places }

    /// The names of all receivers, each once: those of the places in their order, then others that took part when
    /// places were taught.
    package var receiverNames: [String] {
        var seen: Set<String> = []
        return (places.flatMap(\.receivers) + (taught?.receiverNames ?? [])).filter { seen.insert($0).inserted }
    }

    /// The names of all places: those of the plan, then others that were taught.
    package var placeNames: [String] {
        let names = places.map(\.name)
        return names + (taught?.places.map(\.name) ?? []).filter { !names.contains($0) }
    }

    /// The plan as the engine has it, with numbers in place of names.
    var map: PlaceMap {
        var placeOf: [String: Int] = [:]
        for (number, place) in places.enumerated() {
            for receiver in place.receivers where placeOf[receiver] == nil { placeOf[receiver] = number }
        }
        let (names, receivers) = (placeNames, receiverNames)
        for receiver in receivers where placeOf[receiver] == nil {
            placeOf[receiver] = taught?.likelyPlace(of: receiver).flatMap { names.firstIndex(of: $0) }
        }
        var map = PlaceMap(placeCount: names.count, receivers: receivers.map { placeOf[$0] })
        map.taught = taught?.points(placeNames: names, receivers: receivers) ?? []
        map.rules = rules
        map.reportsEachSecond = reportsEachSecond
        return map
    }

    /// Returns the mistake in the plan in a sentence; nil where there is none.
    public func mistake() -> String? {
        if placeNames.isEmpty { return "there are no places; name at least one" }
        var owners: [String: String] = [:]
        var names: Set<String> = []
        for place in places {
            guard !place.name.isEmpty else { return "a place has no name" }
            guard names.insert(place.name).inserted else {
                return "\"\(place.name)\" is there twice; name all receivers of a place at once"
            }
            for receiver in place.receivers {
                guard !receiver.isEmpty else { return "\"\(place.name)\" has a receiver without a name" }
                if let other = owners.updateValue(place.name, forKey: receiver) {
                    return
                        "the receiver \"\(receiver)\" is in \"\(other)\" and in \"\(place.name)\"; a receiver has one "
                        + "place"
                }
            }
        }
        guard placeNames.count <= PlaceMap.maximumPlaces else {
            return "there are \(placeNames.count) places; there can be \(PlaceMap.maximumPlaces)"
        }
        let count = receiverNames.count
        guard count <= PlaceMap.maximumReceivers else {
            return "there are \(count) receivers; there can be \(PlaceMap.maximumReceivers)"
        }
        return nil
    }
}
