import BeaconModel
import BeaconMonitoring
import BeaconSupport

/// Something that has happened, as rules look at it: heard here, or sent by an app or another beacond.
struct RuleOccurrence: Sendable {
    /// What happened; for proximity, the event of the rule that it is.
    var event: RuleEvent
    /// When, by the wall clock.
    var time: Timestamp
    /// How long ago that was when it became known.
    var lateness = Duration.zero
    /// What happened, in a sentence without a full stop.
    var summary: String
    /// The regions that it is about.
    var regions: Set<String> = []
    var beacon: BeaconIdentity?
    /// The place that the beacon came into, or is fixed in.
    var place: String?
    /// The user and the install whose app sent it; nil for what was heard here.
    var user: String?
    var install: String?
    /// The app or the webhook that sent it; nil for what was heard here.
    var sender: String?
    /// What is known of the user.
    var attributes: [String: String] = [:]
    /// Its number in the history; nil where it has none so far.
    var number: Int64?
    /// The line of JSON that programs get.
    var json: [UInt8] = []

    /// For whom a rule runs once in a span: the user, else the install, else the beacon, else the region.
    var person: String { user ?? install ?? beacon?.description ?? regions.min() ?? "" }
    /// The same, with the app that knows them: a name of another app is somebody else's.
    var personKey: String { install == nil ? person : "\(sender ?? ""): \(person)" }
}

extension Rule {
    /// The time after which an event that an app sent is late. A phone that is out of reach sends what happened an hour
    /// later; a message about it would then be about nothing.
    static let lateness = Duration.seconds(600)

    /// Returns true where something is an event of this rule, whoever it concerns and whenever it is.
    func concerns(_ occurrence: RuleOccurrence) -> Bool {
        guard events.contains(occurrence.event) else { return false }
        // A message is for whoever sent the event.
        if target == nil, destinations.isEmpty, occurrence.install == nil { return false }
        if let regions, regions.isDisjoint(with: occurrence.regions) { return false }
        if let places, occurrence.event.isOfBeacon {
            guard let place = occurrence.place, places.contains(place) else { return false }
        }
        if let beacons, occurrence.event.isOfBeacon {
            guard let beacon = occurrence.beacon, beacons.contains(beacon) else { return false }
        }
        guard let audience else { return true }
        return audience.contains(
            user: occurrence.user, install: occurrence.install, attributes: occurrence.attributes)
    }

    /// Returns why the rule does not run for an event of its own, in a sentence; nil where it does.
    ///
    /// - Parameters:
    ///   - occurrence: the event.
    ///   - last: when it ran last for the same person; nil for never.
    func reason(against occurrence: RuleOccurrence, last: Timestamp?) -> String? {
        if !acceptsLateEvents, occurrence.lateness > Self.lateness {
            return "it became known \(DurationText.text(.seconds(occurrence.lateness.components.seconds))) later"
        }
        if let schedule, !schedule.contains(occurrence.time) { return "it was not within the rule's days and hours" }
        // Also of an event that comes after a later one.
        if let span, let last, abs(occurrence.time.since(last)) < span.clampedNanoseconds {
            return "it ran for the same one less than \(DurationText.text(span)) before"
        }
        return nil
    }
}

/// A rule's memory of what apps have sent about beacons: it turns their changes of proximity into the moments of the
/// rule.
///
/// An app sends a change, or that a beacon is there once more, and not that it left. So the same proximity again, after
/// a pause, is another visit, and another proximity that is as near goes on with the visit. Who stays is known by a
/// later event that still says so.
struct ReportedVisits: Sendable {
    /// The most visits that are remembered; of more, those are forgotten that were seen first.
    private static let most = 10_000

    /// The time beyond a stay for which nothing has to be reported of it: after that, a report is of another visit.
    private static let longestSilence = 600 * Timestamp.nanosecondsPerSecond

    private struct Key: Hashable {
        var reporter: String
        var beacon: BeaconIdentity
    }

    private struct Visit {
        var proximity: Proximity
        var seen: Timestamp
        /// For each event of the rule, when it began to hold, and whether it was told.
        var began: [RuleEvent: (time: Timestamp, wasTold: Bool)] = [:]
    }

    private var visits: [Key: Visit] = [:]

    /// Takes in that a beacon is at a proximity.
    ///
    /// - Parameters:
    ///   - beacon: the beacon.
    ///   - proximity: its proximity; nil where it is gone.
    ///   - time: the moment.
    ///   - reporter: who says so: an install, or a receiver.
    ///   - events: the events of the rule.
    ///   - persists: true where what is said holds until something else is, since each change is reported.
    /// - Returns: the events that happen, each with its moment.
    mutating func receive(
        _ beacon: BeaconIdentity, at proximity: Proximity?, time: Timestamp, from reporter: String,
        for events: Set<RuleEvent>, persists: Bool
    ) -> [(event: RuleEvent, time: Timestamp)] {
        let key = Key(reporter: reporter, beacon: beacon)
        let last = visits[key]
        var moments: [(event: RuleEvent, time: Timestamp)] = []
        if persists, let last { moments += Self.elapsed(last, by: time) }
        guard let proximity else {
            visits[key] = nil
            if events.contains(.gone), last != nil || !persists { moments.append((.gone, time)) }
            return moments
        }
        let isNew =
            !persists && last?.proximity == proximity
            && time.since(last?.seen ?? time) >= RuleTrigger.patience
        var visit = Visit(proximity: proximity, seen: time)
        for event in events {
            guard case .proximity(let wanted, let stay) = event, Self.rank(proximity) >= Self.rank(wanted) else {
                continue
            }
            // Who stays says the same again; who comes again says it as well. It is a stay unless nothing was said for
            // long.
            let isOver =
                !persists
                && time.since(last?.seen ?? time) > stay.clampedNanoseconds + Self.longestSilence
            var began = isNew && stay == .zero || isOver ? nil : last?.began[event]
            if persists, let known = began, !known.wasTold, time.since(known.time) >= stay.clampedNanoseconds {
                began?.wasTold = true
            }
            var now = began ?? (time, false)
            if !now.wasTold, time.since(now.time) >= stay.clampedNanoseconds {
                now.wasTold = true
                moments.append((event, time))
            }
            visit.began[event] = now
        }
        visits[key] = visit
        if visits.count > Self.most {
            // A tenth at once, so that one who invents installs does not have all of them looked at each time.
            for oldest in visits.sorted(by: { $0.value.seen < $1.value.seen }).prefix(Self.most / 10) {
                visits[oldest.key] = nil
            }
        }
        return moments.sorted { ($0.time, $0.event.description) < ($1.time, $1.event.description) }
    }

    /// Returns the stays that have become long enough while nothing else was reported.
    private static func elapsed(_ visit: Visit, by time: Timestamp) -> [(event: RuleEvent, time: Timestamp)] {
        visit.began.compactMap { event, began in
            guard case .proximity(_, let stay) = event, stay > .zero, !began.wasTold else { return nil }
            let due = began.time.advanced(by: stay.clampedNanoseconds)
            return due <= time ? (event, due) : nil
        }
    }

    private static func rank(_ proximity: Proximity) -> Int {
        switch proximity {
        case .immediate: 3
        case .near: 2
        case .far: 1
        case .unknown: 0
        }
    }
}
