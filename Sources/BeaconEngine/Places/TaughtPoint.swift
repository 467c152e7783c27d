import BeaconModel

/// The levels of a beacon at a spot of a place, from a few seconds of teaching.
public struct TaughtPoint: Hashable, Sendable {
    /// The level at one receiver.
    public enum Level: Hashable, Sendable {
        /// The level above the beacon's measured power, in dB.
        case heard(Double)
        /// The receiver did not hear the beacon.
        case silent
        /// The receiver was absent or deaf.
        case absent
    }

    /// The number of the place.
    public var place: Int

    /// The level at each receiver of the map.
    public var levels: [Level]

    /// Creates a point.
    ///
    /// - Parameters:
    ///   - place: the number of the place.
    ///   - levels: the level at each receiver of the map.
    public init(place: Int, levels: [Level]) {
        self.place = place
        self.levels = levels
    }
}

/// The taught places, and the similarity of a beacon's levels to them.
///
/// A level differs from the taught level at the spot by some 6 dB, so that the mean of the squared differences, each in
/// units of that, is a cost of about one in the right place. Beacons of another power differ by the same amount at all
/// receivers, so that amount is subtracted. If both were silent at a receiver, they agree. That distinguishes places
/// that are far from a receiver.
///
/// The numbers were chosen on a recording of a flat, by drawing stands of 20 s and judging the rest of it, and those of
/// the strongest receiver on a flat, a door and an open office.
struct TaughtPlaces {
    /// The spread of a level and of the power of beacons, in dB.
    static let spread: Float = 6
    private static let variance = spread * spread

    /// The maximum cost of one receiver, so that an open door does not decide: three times the spread.
    private static let most: Float = 9

    /// The part of a place's points that counts, best first, because a beacon is at only one spot of the place.
    private static let share = 5

    /// The cost of a place whose receivers hear the beacon best. The beacon may be at an untaught spot of it. With a
    /// lead of 6 dB it costs 1, without a lead twice as much.
    private static let own: Float = 1
    private static let ownLead: Float = 6

    /// How often the lead of the strongest receiver's place counts, beside the similarity: a room with a receiver is
    /// found at least as well as without teaching. The largest lead that counts is ``most``, as a cost.
    private static let leadWeight: Float = 2

    /// The cost per second of levels that are unlike all taught ones.
    static let unknownCost: Float = 1.5

    /// The maximum cost by which a place is behind another before a second is added: about half a second with perfect
    /// levels in one place and no match in the other.
    static let switchCost: Float = 0.5

    /// The minimum lead of the best place while another has no receiver that hears. It removes as many wrong seconds as
    /// right ones. If a beacon may be near a deaf receiver, "unknown" is better than a wrong place.
    static let clearLead: Float = 0.1

    /// The level below which nothing is heard, in dBm.
    private static let floor = Float(ReceiverCalibration.defaultSensitivity)

    /// The maximum number of points of a place. If there are more, the most similar ones are merged first.
    private static let capacity = 64

    private enum Mark {
        static let silent = -Float.infinity
        static let absent = Float.nan
    }

    /// The levels of all points, place after place.
    private var levels: [Float] = []
    private let width: Int
    /// The numbers of each place's points.
    fileprivate let ranges: [Range<Int>]

    /// True for each receiver that was present when places were taught.
    private(set) var isTaught: [Bool]

    /// - Parameters:
    ///   - points: the points; there may be none.
    ///   - placeCount: the number of places.
    ///   - receiverCount: the number of receivers.
    ///   - joinsPoints: whether to merge similar points of a place that has very many.
    init(_ points: [TaughtPoint], placeCount: Int, receiverCount: Int, joinsPoints: Bool = true) {
        width = receiverCount
        var ranges: [Range<Int>] = []
        for place in 0..<placeCount {
            var own = points.filter { $0.place == place }.map { Self.levels($0, receiverCount) }
            if joinsPoints { own = Self.joined(own) }
            ranges.append(levels.count / max(width, 1)..<levels.count / max(width, 1) + own.count)
            for point in own { levels += point }
        }
        self.ranges = ranges
        isTaught = Array(repeating: false, count: receiverCount)
        for (index, level) in levels.enumerated() where !level.isNaN { isTaught[index % width] = true }
    }

    var isEmpty: Bool { levels.isEmpty }

    fileprivate static func levels(_ point: TaughtPoint, _ count: Int) -> [Float] {
        (0..<count).map { number in
            guard number < point.levels.count else { return Mark.absent }
            return switch point.levels[number] {
            case .heard(let level): Float(level)
            case .silent: Mark.silent
            case .absent: Mark.absent
            }
        }
    }

    /// Returns at most the maximum number of points; merges the most similar ones to their means.
    private static func joined(_ points: [[Float]]) -> [[Float]] {
        // Merging compares all pairs. If there are very many points, a regular sample is enough.
        let step = (points.count + 4 * capacity - 1) / (4 * capacity)
        var points = step > 1 ? stride(from: 0, to: points.count, by: step).map { points[$0] } : points
        while points.count > capacity {
            var best: (left: Int, right: Int, distance: Float) = (0, 1, .infinity)
            for right in points.indices {
                for left in 0..<right {
                    var (sum, count): (Float, Float) = (0, 0)
                    for (one, other) in zip(points[left], points[right]) where one.isFinite && other.isFinite {
                        sum += (one - other) * (one - other)
                        count += 1
                    }
                    if count > 0, sum / count < best.distance { best = (left, right, sum / count) }
                }
            }
            let other = points.remove(at: best.right)
            points[best.left] = zip(points[best.left], other).map { one, other in
                one.isFinite && other.isFinite ? (one + other) / 2 : one.isNaN ? other : one
            }
        }
        return points
    }

    /// The special levels of a receiver in one second, for ``costs(_:in:measuredPower:omitting:)``.
    enum Heard {
        /// The receiver hears, but not the beacon.
        static var silent: Float { Mark.silent }
        /// The receiver is deaf.
        static var absent: Float { Mark.absent }
    }

    /// Returns the decibels by which a beacon would have to be louder at every receiver to cause a difference in cost.
    static func decibels(_ cost: Float) -> Double { Double((max(cost, 0) * variance).squareRoot()) }

    /// Returns the cost of each place for a beacon.
    ///
    /// - Parameters:
    ///   - heard: the level at each receiver above the beacon's measured power, or one of ``Heard``.
    ///   - map: the places of the receivers.
    ///   - measuredPower: the beacon's power in dBm.
    ///   - omitted: the numbers of points that do not count.
    func costs(
        _ heard: [Float], in map: PlaceMap, measuredPower: Float, omitting omitted: Range<Int> = 0..<0
    ) -> [Float] {
        let places = map.receivers
        var costs = ranges.map { range in
            var distances: [Float] = []
            for point in range where !omitted.contains(point) {
                if let distance = distance(heard, to: point, measuredPower: measuredPower) {
                    distances.append(distance)
                }
            }
            guard !distances.isEmpty else { return Self.most }
            let count = (distances.count + Self.share - 1) / Self.share
            distances.sort()
            return distances[..<count].reduce(0, +) / Float(count)
        }
        var strongest: Int?
        for (number, level) in heard.enumerated() where level.isFinite && places[number] != nil {
            if level > strongest.map({ heard[$0] }) ?? -.infinity { strongest = number }
        }
        guard let strongest, let place = places[strongest] else { return costs }
        var lead = Self.ownLead
        // Only its own receivers can detect an untaught place. While they are deaf, no other place can lead it.
        for (number, level) in heard.enumerated() where level.isNaN {
            if let other = places[number], other != place, ranges[other].isEmpty { lead = 0 }
        }
        for (number, level) in heard.enumerated() where level.isFinite && places[number] != nil {
            if places[number] != place { lead = min(lead, heard[strongest] - level) }
        }
        costs[place] = min(costs[place], Self.own * (2 - lead / Self.ownLead))
        addLeads(heard, in: map, to: &costs)
        return costs
    }

    /// Adds what each place with receivers is behind the place of the strongest one.
    private func addLeads(_ heard: [Float], in map: PlaceMap, to costs: inout [Float]) {
        var best = [Float](repeating: .nan, count: costs.count)
        // A receiver that was added after the teaching does not count.
        for (number, place) in map.receivers.enumerated() where isTaught[number] && !map.guessed.contains(number) {
            // A silent receiver is infinitely far behind. A place whose receivers are all deaf is not behind.
            guard let place, !heard[number].isNaN else { continue }
            best[place] = best[place].isNaN ? heard[number] : max(best[place], heard[number])
        }
        guard let most = best.filter(\.isFinite).max() else { return }
        for (place, level) in best.enumerated() where !level.isNaN {
            let lead = (most - level) / Self.spread
            costs[place] += Self.leadWeight * min(lead * lead, Self.most)
        }
    }

    private func distance(_ heard: [Float], to point: Int, measuredPower: Float) -> Float? {
        var (sum, count): (Float, Float) = (0, 0)
        let first = point * width
        for number in 0..<width {
            let difference = heard[number] - levels[first + number]
            guard difference.isFinite else { continue }
            sum += difference
            count += 1
        }
        guard count > 0 else { return nil }
        let offset = sum / (count + 1)
        var cost = offset * offset / Self.variance
        for number in 0..<width {
            let (level, taught) = (heard[number], levels[first + number])
            if level.isNaN || taught.isNaN { continue }
            let difference: Float
            if level.isFinite, taught.isFinite {
                difference = level - taught - offset
            } else {
                count += 1
                // If only one of both was heard, the distance is that between its level and the floor.
                let known = max(level, taught)
                guard known.isFinite else { continue }
                difference = max(0, known + measuredPower - Self.floor)
            }
            cost += min(difference * difference / Self.variance, Self.most)
        }
        return cost / count
    }
}

extension PlaceMap {
    /// Returns the place that the taught levels give for each of some points, as for a beacon that stays there.
    ///
    /// - Parameters:
    ///   - points: the points.
    ///   - areTaught: true if they are ``taught``. Each is then judged without itself and its neighbors, since a person
    ///     stays at one spot for longer than a point.
    public func foundPlaces(of points: [TaughtPoint], areTaught: Bool) -> [Int?] {
        let known = TaughtPlaces(
            taught, placeCount: placeCount, receiverCount: receivers.count, joinsPoints: false)
        var next = known.ranges.map(\.lowerBound)
        return points.map { point in
            guard next.indices.contains(point.place) else { return nil }
            let own = known.ranges[point.place]
            let number = next[point.place]
            next[point.place] += 1
            // A place with few points would lose them all.
            let margin = own.count > 3 ? 1 : 0
            let omitted = areTaught ? (number - margin..<number + margin + 1).clamped(to: own) : 0..<0
            return known.place(of: point, in: self, omitting: omitted)
        }
    }
}

extension TaughtPlaces {
    /// Returns the place of a beacon with the levels of a point; nil if nothing tells it.
    fileprivate func place(of point: TaughtPoint, in map: PlaceMap, omitting omitted: Range<Int>) -> Int? {
        let heard = Self.levels(point, map.receivers.count)
        let costs = costs(
            heard, in: map, measuredPower: Float(IBeaconFrame.defaultMeasuredPower), omitting: omitted)
        if let best = costs.indices.min(by: { costs[$0] < costs[$1] }), costs[best] < Self.unknownCost { return best }
        let audible = heard.indices.filter { heard[$0].isFinite && map.receivers[$0] != nil }
        return audible.max { heard[$0] < heard[$1] }.flatMap { map.receivers[$0] }
    }
}
