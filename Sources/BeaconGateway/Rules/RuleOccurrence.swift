package import BeaconModel
import BeaconMonitoring
import BeaconSupport

/// Something that has happened, as rules look at it: heard here, or sent by an app or another beacond.
package struct RuleOccurrence: Sendable {
    /// What happened; for proximity, the event of the rule that it is.
    var event: RuleEvent
    /// When, by the wall clock.
    package var time: Timestamp
    /// How long ago that was when it became known.
    package var lateness = Duration.zero
    /// What happened, in a sentence without a full stop.
    package var summary: String
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
    package var person: String { user ?? install ?? beacon?.description ?? regions.min() ?? "" }
    /// The same, with the app that knows them: a name of another app is somebody else's.
    var personKey: String { install == nil ? person : "\(sender ?? ""): \(person)" }
}

extension Rule {
    /// The time after which an event that an app sent is late. A phone that is out of reach sends what happened an hour
    /// later; a message about it would then be about nothing.
    static let lateness = Duration.seconds(600)

    /// Returns true where events of a beacon can be events of this rule.
    func concerns(_ beacon: BeaconIdentity, of regions: Set<String>) -> Bool {
        (beacons?.contains(beacon) ?? true) && (self.regions.map { !$0.isDisjoint(with: regions) } ?? true)
    }

    /// Returns true where something is an event of this rule, whoever it concerns and whenever it is.
    package func concerns(_ occurrence: RuleOccurrence) -> Bool {
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
