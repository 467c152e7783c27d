internal import BeaconApplications
internal import BeaconModel
internal import BeaconMonitoring

/// How an app reacts to a plain visit. Each situation is judged against it, so that no judgement depends on how the app
/// is written or on what it calls its notes.
struct Habits: Sendable {
    /// The texts of the notes for the first beacon, at an arrival and during the stay.
    private(set) var arrivals: Set<String> = []
    /// The texts of the notes for the second beacon.
    private(set) var secondArrivals: Set<String> = []
    /// The texts of the notes when the visitor leaves, whichever beacon it was.
    private(set) var departures: Set<String> = []
    /// The seconds from the exit to the note of the departure, in the foreground.
    private(set) var departureDelay = 0.0
    /// True if the app notes an arrival in the callback of a region or condition, and not only while it ranges.
    private(set) var notesAtEntry = false
    /// True if the app starts to range in a visit.
    private(set) var rangesInVisit = false
    /// True if the app still ranges after a stay of 90 s. Other apps save power.
    private(set) var keepsRanging = false
    /// True if the app notes anything in a plain visit that it does not note without one.
    private(set) var notesVisits = false
    /// True if the app notes anything in any situation.
    private(set) var notesAnything = false
    /// True if the app is only allowed to be used in the foreground, since it does not ask for more.
    private(set) var isForForegroundOnly = false
    /// True if the app monitors or ranges.
    private(set) var listens = false
    /// True if a visit's notes repeat each second, so that no count of notes means anything.
    private(set) var repeats = false

    /// Learns from the transcripts of all situations, by number.
    init(_ transcripts: [Int: Transcript]) {
        notesAnything = transcripts.values.contains { !$0.notes().isEmpty }
        if let visit = transcripts[1] {
            // A visit from afar, one at once near, and one between them: an app may note the proximity.
            for number in [1, 4, 15] {
                arrivals.formUnion((transcripts[number].map(Self.stay) ?? []).map(\.text))
            }
            let notes = Self.stay(visit)
            let ambient = Set(visit.notes(to: visit.time("beacon")).map(\.text))
            notesVisits = Situation.references.contains { number in
                transcripts[number]?.notes().contains { !ambient.contains($0.text) } ?? false
            }
            isForForegroundOnly = visit.authorization == .whenInUse
            let events = visit.sights { sight in
                switch sight {
                case .entered, .condition("satisfied"): true
                case .state(_, let state): state == .inside
                default: false
                }
            }
            notesAtEntry = notes.contains { note in events.contains { abs($0 - note.time) < 0.05 } }
            let requests = visit.requests(at: .infinity)
            listens = !requests.regions.isEmpty || !requests.conditions.isEmpty || !requests.ranged.isEmpty
        }
        if let walk = transcripts[3] {
            let before = Set(walk.notes(to: walk.time("gone")).map(\.text))
            departures = Set(walk.notes(from: "gone").map(\.text)).subtracting(before).subtracting(arrivals)
            let exit = walk.sights(from: walk.time("gone")) { sight in
                switch sight {
                case .exited, .condition("unsatisfied"): true
                case .state(_, let state): state == .outside
                default: false
                }
            }.first
            let goodbye = walk.notes(from: "gone").first { departures.contains($0.text) }
            if let exit, let goodbye { departureDelay = max(0, goodbye.time - exit) }
            rangesInVisit =
                walk.requests(at: walk.time("beacon")).ranged.isEmpty
                && !walk.requests(at: walk.time("gone")).ranged.isEmpty
        }
        if let second = transcripts[7], second.marks["second alone"] != nil {
            secondArrivals = Set(second.notes(from: "second alone", to: "second gone").map(\.text))
            let left = Set(second.notes(from: "second gone", to: "first").map(\.text))
            departures.formIntersection(left)
        }
        if let stay = transcripts[15] {
            keepsRanging = !stay.requests.ranged.isEmpty
            repeats = Judgement.mostRepeated(stay.notes(from: "beacon")).count >= Judgement.eachSecond
        }
    }

    /// The notes of a stay: those before the beacon came do not count, even later.
    private static func stay(_ transcript: Transcript) -> [Transcript.Note] {
        let ambient = Set(transcript.notes(to: transcript.time("beacon")).map(\.text))
        let end = transcript.marks["gone"] == nil ? nil : "gone"
        return transcript.notes(from: "beacon", to: end).filter { !ambient.contains($0.text) }
    }

    func isArrival(_ text: String) -> Bool { arrivals.contains(text) || secondArrivals.contains(text) }
    func isDeparture(_ text: String) -> Bool { departures.contains(text) }
}
