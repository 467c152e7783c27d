import BeaconEngine
import BeaconModel

/// The times at which persons were near the beacons of a condition.
///
/// It is a function of the events in the order of their arrival, so that it can be made again from the history.
struct Sightings: Sendable, Codable {
    /// A period in which a person was near.
    private struct Stay: Sendable, Codable {
        var from: Timestamp
        var to: Timestamp
    }

    /// The most persons to remember. If there are more, a tenth is forgotten: those that were not near for longest.
    /// Limits the memory that invented persons can occupy.
    private static let maximumPersons = 10_000
    /// The most stays to remember for a person.
    private static let maximumStays = 50

    /// The stays of each person, in the order of time.
    private var stays: [String: [Stay]] = [:]
    /// The beginnings of stays that last, by person and beacon.
    private var lasting: [String: [String: Timestamp]] = [:]

    /// Creates an empty memory.
    init() {}

    /// Notes that a person is near a beacon, or no longer.
    ///
    /// - Parameters:
    ///   - isNear: whether the person is near.
    ///   - person: the person.
    ///   - beacon: the beacon and its receiver.
    ///   - time: the time of the event.
    ///   - lasts: true if the state holds until the next event. False for an app, which reports no departures.
    mutating func note(_ isNear: Bool, _ person: String, _ beacon: String, at time: Timestamp, lasts: Bool) {
        switch (isNear, lasts) {
        case (true, true):
            guard lasting[person]?[beacon] == nil else { return }
            makeRoom(for: person)
            lasting[person, default: [:]][beacon] = time
        // Repeated reports of an app are one stay, as they are one visit of a rule.
        case (true, false): add(Stay(from: time, to: time), of: person, joining: ProximityMachine.patience)
        case (false, true):
            guard let from = lasting[person]?.removeValue(forKey: beacon) else { return }
            if lasting[person]?.isEmpty == true { lasting[person] = nil }
            add(Stay(from: from, to: max(from, time.advanced(by: -1))), of: person, joining: 1)
        case (false, false): break
        }
    }

    private mutating func add(_ stay: Stay, of person: String, joining gap: Int64) {
        makeRoom(for: person)
        var list = stays[person] ?? []
        // Events can arrive late.
        let index = (list.lastIndex { $0.from <= stay.from } ?? -1) + 1
        if index > 0, stay.from.since(list[index - 1].to) <= gap {
            list[index - 1].to = max(list[index - 1].to, stay.to)
        } else {
            list.insert(stay, at: index)
        }
        stays[person] = list.suffix(Self.maximumStays)
    }

    private mutating func makeRoom(for person: String) {
        guard stays[person] == nil, lasting[person] == nil else { return }
        guard stays.count + lasting.count >= Self.maximumPersons else { return }
        var newest = lasting.compactMapValues { $0.values.max() }
        newest.merge(stays.compactMapValues { $0.last?.to }) { max($0, $1) }
        let oldest = newest.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
        for (person, _) in oldest.prefix(Self.maximumPersons / 10) { (stays[person], lasting[person]) = (nil, nil) }
    }

    /// Returns the first time in a period at which one of some persons was near; nil if none was.
    func first(of persons: [String], in period: ClosedRange<Timestamp>) -> Timestamp? {
        persons.flatMap { person in
            let past = (stays[person] ?? []).filter {
                $0.from <= period.upperBound && $0.to >= period.lowerBound
            }
            return past.map(\.from) + (lasting[person]?.values.filter { $0 <= period.upperBound } ?? [])
        }.map { max($0, period.lowerBound) }.min()
    }

    /// Returns the memory of some persons only.
    func filtered(_ isIncluded: (String) -> Bool) -> Sightings {
        var result = self
        result.stays = stays.filter { isIncluded($0.key) }
        result.lasting = lasting.filter { isIncluded($0.key) }
        return result
    }
}
