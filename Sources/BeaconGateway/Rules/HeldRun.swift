import BeaconDelivery
import BeaconEngine
import BeaconEventStore
import BeaconModel
import BeaconMonitoring
import Foundation

/// A run of a rule with `unless`, which waits until the person can no longer come near in time.
struct HeldRun: Sendable {
    /// The id in the store.
    var id: String
    /// The name of the rule. A rule that is renamed keeps its runs.
    var rule: String
    /// The event.
    var occurrence: RuleOccurrence
    /// The persons whose sightings end the wait.
    let persons: [String]
    /// The end of the time after the event. It is the time of the run.
    var deadline: Timestamp
    /// The time of arrival of later events that end the wait: those that arrive before may still tell that the person
    /// came near.
    var due: Timestamp
    /// The line for the rule's program; nil if it has none.
    var line: [UInt8]?

    init(
        id: String, rule: String, occurrence: RuleOccurrence, deadline: Timestamp, due: Timestamp, line: [UInt8]?
    ) {
        (self.id, self.rule, self.occurrence, self.deadline) = (id, rule, occurrence, deadline)
        (self.due, self.line) = (due, line)
        // Each sighting looks at them in all waiting runs.
        persons = occurrence.persons
    }

    /// True if the event is one of this machine's. Its own receivers decide then, in their time.
    var isHere: Bool { occurrence.notification.sender == nil }
}

extension HeldRun: Codable {
    /// The form in the store and in the journal. The notification is kept as an event of the history.
    private struct Form: Codable {
        var id: String
        var rule: String
        var event: String
        var time: Timestamp
        var deadline: Timestamp
        var due: Timestamp
        var regions: Set<String>
        var place: String?
        var number: Int64?
        var attributes: [String: String]
        var kind: String
        var notified: Timestamp
        var sender: String?
        var install: String?
        var body: Data
        var own: Data
        var line: Data?
    }

    init(from decoder: any Decoder) throws {
        let form = try Form(from: decoder)
        func fault(_ text: String) -> DecodingError {
            .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: text))
        }
        guard let kind = try? RuleEvent(form.event) else { throw fault("an unknown event") }
        var event = Event(id: EventID(hashing: form.id), time: form.notified, kind: form.kind)
        (event.body, event.private, event.sender, event.install) = (form.body, form.own, form.sender, form.install)
        guard let notification = BeaconNotification(decoding: event) else { throw fault("no notification") }
        self.init(
            id: form.id, rule: form.rule,
            occurrence: RuleOccurrence(
                event: kind, time: form.time, notification: notification, regions: form.regions, place: form.place,
                attributes: form.attributes, number: form.number),
            deadline: form.deadline, due: form.due, line: form.line.map { [UInt8]($0) })
    }

    func encode(to encoder: any Encoder) throws {
        let (occurrence, event) = (occurrence, try occurrence.notification.event())
        try Form(
            id: id, rule: rule, event: "\(occurrence.event)", time: occurrence.time, deadline: deadline, due: due,
            regions: occurrence.regions, place: occurrence.place, number: occurrence.number,
            attributes: occurrence.attributes, kind: event.kind, notified: event.time, sender: event.sender,
            install: event.install, body: event.body, own: event.private, line: line.map { Data($0) }
        ).encode(to: encoder)
    }
}
