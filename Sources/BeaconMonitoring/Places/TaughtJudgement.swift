import BeaconEngine

/// How well the levels of taught points tell the places apart.
///
/// Each point is judged by all others, as if a beacon stayed at its spot. So a place needs points at several spots.
package struct TaughtJudgement: Equatable, Sendable {
    /// The points of one place.
    package struct Place: Equatable, Sendable {
        package var name: String
        /// The number of points, and of those that are found in the place.
        package var points = 0
        package var right = 0
        /// The places that the other points are taken for, the most frequent first. A nil name is no place.
        package var mistakes: [(name: String?, points: Int)] = []

        package static func == (left: Place, right: Place) -> Bool {
            left.name == right.name && left.points == right.points && left.right == right.right
                && left.mistakes.elementsEqual(right.mistakes) { $0 == $1 }
        }
    }

    /// The places with points, in the order of the plan.
    package var places: [Place] = []

    /// The share of right points below which a place should be taught again.
    package static let enough = 0.7

    /// The share of points that are found in their place; nil without points.
    package var rightness: Double? {
        let count = places.reduce(0) { $0 + $1.points }
        return count > 0 ? Double(places.reduce(0) { $0 + $1.right }) / Double(count) : nil
    }

    /// The share of points whose strongest receiver is in their place; nil if no place has a receiver. That receiver
    /// decides without teaching.
    package var rightnessUntaught: Double?

    /// False if the receivers' places tell as much, so that the strongest receiver decides.
    package var isNeeded = true

    /// The remedy if too few points are found in their place, or fewer than without teaching; nil if enough are.
    package var advice: String? {
        if !isNeeded {
            return "Each taught room has a receiver, and the strongest one decides. Teaching changes nothing until a "
                + "room without a receiver is taught, too."
        }
        if let rightness, let rightnessUntaught, rightness < rightnessUntaught {
            return "The strongest receiver alone finds \(Int((rightnessUntaught * 100).rounded())) % of the points. "
                + "Forget this teaching, or teach more spots."
        }
        return rightness.map { $0 < Self.enough } == true ? "Teach more spots, or add a receiver." : nil
    }

    /// A sentence about each confusion, such as "Bath is taken for Hall in 2 of 12".
    package var confusions: [String] {
        places.flatMap { place in
            place.mistakes.map { mistake in
                "\(place.name) is taken for \(mistake.name ?? "no place") in \(mistake.points) of \(place.points)"
            }
        }
    }
}

extension PlacePlan {
    /// Judges the taught points of this plan.
    ///
    /// - Parameter later: points by place that the plan does not have yet, and which its present points judge.
    package func judgement(withLater later: TaughtMap = TaughtMap()) -> TaughtJudgement {
        var whole = self
        // Unknown receivers and places need numbers, too.
        whole.taught = (taught ?? TaughtMap()).adding(later)
        let (names, receivers) = (whole.placeNames, whole.receiverNames)
        var map = whole.map
        let own = taught?.points(placeNames: names, receivers: receivers) ?? []
        let new = later.points(placeNames: names, receivers: receivers)
        map.taught = own
        let isNeeded = whole.map.needsTeaching
        let found =
            isNeeded
            ? map.foundPlaces(of: own, areTaught: true) + map.foundPlaces(of: new, areTaught: false)
            : (own + new).map(map.strongestPlace)
        var counts: [Int: [Int?: Int]] = [:]
        for (point, place) in zip(own + new, found) { counts[point.place, default: [:]][place, default: 0] += 1 }
        var judgement = TaughtJudgement()
        judgement.isNeeded = isNeeded
        for (number, name) in names.enumerated() {
            guard let found = counts[number] else { continue }
            var place = TaughtJudgement.Place(name: name)
            place.points = found.values.reduce(0, +)
            place.right = found[number] ?? 0
            place.mistakes = found.filter { $0.key != number }
                .sorted { ($1.value, $0.key ?? -1) < ($0.value, $1.key ?? -1) }
                .map { ($0.key.map { names[$0] }, $0.value) }
            judgement.places.append(place)
        }
        if map.receivers.indices.contains(where: { map.receivers[$0] != nil && !map.guessed.contains($0) }) {
            let right = (own + new).count { map.strongestPlace(of: $0) == $0.place }
            judgement.rightnessUntaught = Double(right) / Double(max(own.count + new.count, 1))
        }
        return judgement
    }
}

extension PlaceMap {
    /// Returns the place of the receiver that hears a point best; nil if no receiver of a place hears it.
    fileprivate func strongestPlace(of point: TaughtPoint) -> Int? {
        var best: (place: Int, level: Double)?
        for (number, level) in point.levels.enumerated() where !guessed.contains(number) {
            guard case .heard(let level) = level, let place = receivers[number] else { continue }
            if level > best?.level ?? -.infinity { best = (place, level) }
        }
        return best?.place
    }
}

extension TaughtMap {
    /// Returns this map with the points of another one.
    package func adding(_ other: TaughtMap) -> TaughtMap {
        var result = self
        for place in other.places { result.add(place.points, to: place.name) }
        return result
    }

    /// Returns a hint about the points of a place if only one receiver hears them; nil if more do.
    package static func hint(about points: [[String: Double?]]) -> String? {
        let most = points.map { $0.values.count { $0 != nil } }.max() ?? 0
        return most == 1
            ? "Only one receiver hears it here: this room cannot be told from its neighbors." : nil
    }
}
