package import BeaconDelivery
package import BeaconModel
import BeaconMonitoring
import BeaconSupport

/// An event as rules see it, from this machine's receivers, an app or another beacond.
package struct RuleOccurrence: Sendable {
    /// The kind of event.
    var event: RuleEvent
    /// The time of the event, by the wall clock. A stay began earlier than the report of it.
    package var time: Timestamp
    /// The event or the report.
    package var notification: BeaconNotification
    /// The time between the event and its arrival.
    package var lateness = Duration.zero
    /// The regions that the event concerns.
    var regions: Set<String> = []
    /// The place that the beacon has entered, or is fixed in.
    var place: String?
    /// The attributes of the user.
    var attributes: [String: String] = [:]
    /// Its number in the history; nil if it has none yet.
    package var number: Int64?

    /// The person for whom a rule runs once in a span: the user, otherwise the install, the beacon or the region.
    package var person: String {
        notification.person ?? notification.install ?? notification.beacon?.description ?? regions.min() ?? ""
    }
    /// The person with the app that knows them: the same name in another app is a different person.
    var personKey: String { notification.install == nil ? person : "\(notification.sender ?? ""): \(person)" }
}

extension Rule {
    /// The time after which an app's event is late. A phone out of reach sends its events an hour later, when a message
    /// about them is of no use.
    static let lateness = Duration.seconds(600)

    /// Returns true if events of a beacon can be events of this rule.
    func concerns(_ beacon: BeaconIdentity, of regions: Set<String>) -> Bool {
        Self.concerns(beacon, of: regions, beacons, self.regions)
    }

    /// Returns true if a beacon, of some regions, is one of the chosen beacons and of a chosen region; nil chooses all.
    static func concerns(
        _ beacon: BeaconIdentity, of regions: Set<String>, _ chosen: Set<BeaconIdentity>?, _ ofRegions: Set<String>?
    ) -> Bool {
        (chosen?.contains(beacon) ?? true) && (ofRegions.map { !$0.isDisjoint(with: regions) } ?? true)
    }

    /// Returns true if an occurrence is an event of this rule. Schedule and span are not checked.
    package func concerns(_ occurrence: RuleOccurrence) -> Bool {
        guard events.contains(occurrence.event) else { return false }
        // A message needs an install to go to.
        if isOnlyForInstalls, occurrence.notification.install == nil { return false }
        if let regions, regions.isDisjoint(with: occurrence.regions) { return false }
        if let places, occurrence.event.isOfBeacon {
            guard let place = occurrence.place, places.contains(place) else { return false }
        }
        if let beacons, occurrence.event.isOfBeacon {
            guard let beacon = occurrence.notification.beacon, beacons.contains(beacon) else { return false }
        }
        guard let audience else { return true }
        return audience.contains(
            user: occurrence.notification.person, install: occurrence.notification.install,
            attributes: occurrence.attributes)
    }

    /// Returns why an event is too late for the rule, as a sentence; nil if it is not.
    func lateReason(against occurrence: RuleOccurrence) -> String? {
        guard !acceptsLateEvents, occurrence.lateness > Self.lateness else { return nil }
        return "it became known \(DurationText.text(.seconds(occurrence.lateness.components.seconds))) later"
    }

    /// Returns why the rule does not run for one of its events, as a sentence; nil if it does.
    ///
    /// - Parameters:
    ///   - occurrence: the event.
    ///   - last: the time of the last run for the same person; nil for none.
    func reason(against occurrence: RuleOccurrence, last: Timestamp?) -> String? {
        if let reason = lateReason(against: occurrence) { return reason }
        if let schedule, !schedule.contains(occurrence.time) { return "it was outside the rule's days and hours" }
        // Also for an event that arrives after a later one.
        if let span, let last, abs(occurrence.time.since(last)) < span.clampedNanoseconds {
            return "it ran for the same subject less than \(DurationText.text(span)) before"
        }
        return nil
    }
}
