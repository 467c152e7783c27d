package import BeaconDelivery
import BeaconEventStore
package import BeaconModel
import BeaconSupport
import Foundation

/// An event in the form that the history stores and the console shows.
package struct HistoryEvent: Sendable {
    /// A kind of event, with its name as the raw value.
    package enum Kind: String, Sendable, CaseIterable {
        case enter, exit, state, place, proximity, gone, receiver
        /// A beacon was heard in a way that no single device allows.
        case suspicious
        /// A custom event of an app.
        case app
        /// An app has identified its user.
        case user

        /// True if rules process this kind of event from the store when it is this machine's. Proximity is decided from
        /// ranging reports instead.
        var isForRules: Bool {
            switch self {
            case .enter, .exit, .place, .suspicious: true
            case .state, .proximity, .gone, .receiver, .app, .user: false
            }
        }

        /// The priority of the event. If not all events can be kept, those of a lower priority are dropped first.
        var priority: Event.Priority {
            switch self {
            case .enter, .exit, .suspicious, .app, .user: .essential
            case .state, .place, .receiver: .normal
            case .proximity, .gone: .repeated
            }
        }
    }

    /// The name of the consumer for rules.
    static let rules = ".rules"

    /// The time of the event, by the wall clock.
    package var time: Timestamp
    package var kind: Kind
    /// A summary in one sentence, without a full stop.
    package var summary: String
    package var receiver: String?
    package var region: String?
    package var place: String?
    package var beacon: BeaconIdentity?
    /// The event's JSON, as destinations and programs receive it.
    package var detail: String
    /// The sender: the name of an app or a webhook; nil for events of this machine.
    package var sender: String?
    /// The install of the app, by its identifier.
    package var install: String?
    /// The user of the install, as the app names them: the install's identifier if the app reported that it has no
    /// user, and nil if the app did not specify one.
    package var user: String?
    /// The user; nil if unknown.
    package var person: String? { user == install ? nil : user }

    /// Creates an event from its parts.
    ///
    /// - Parameters:
    ///   - time: the time of the event, by the wall clock.
    ///   - kind: the kind of event.
    ///   - summary: a summary in one sentence, without a full stop.
    ///   - receiver: the receiver that heard it.
    ///   - region: the region's name.
    ///   - place: the place.
    ///   - beacon: the beacon.
    ///   - detail: the event's JSON.
    ///   - sender: the app or webhook that sent it; nil for an event of this machine.
    ///   - install: the install of the app.
    ///   - user: the user of the install.
    package init(
        time: Timestamp, kind: Kind, summary: String, receiver: String? = nil, region: String? = nil,
        place: String? = nil, beacon: BeaconIdentity? = nil, detail: String, sender: String? = nil,
        install: String? = nil, user: String? = nil
    ) {
        (self.time, self.kind, self.summary, self.detail) = (time, kind, summary, detail)
        (self.receiver, self.region, self.place, self.beacon) = (receiver, region, place, beacon)
        (self.sender, self.install, self.user) = (sender, install, user)
    }

    /// Creates the event of a region's change.
    init?(_ event: RegionEvent) {
        guard let kind = Kind(rawValue: event.kind.rawValue) else { return nil }
        self.kind = kind
        time = event.time
        receiver = event.receiver
        region = event.name
        beacon = event.identity
        detail = Self.json { EventJSON.append(event, to: &$0) }
        switch kind {
        case .enter: summary = "\(event.name) was entered"
        case .exit: summary = "\(event.name) was left"
        default:
            switch event.state {
            case .inside: summary = "\(event.name): a beacon is present"
            case .outside: summary = "\(event.name): no beacon is present"
            case .unknown: summary = "\(event.name): unknown while its receivers are deaf"
            }
        }
    }

    /// Creates the event of a beacon's change of place.
    ///
    /// - Parameters:
    ///   - event: the change.
    ///   - name: the user's name for the beacon.
    init(_ event: PlaceEvent, name: String) {
        kind = .place
        time = event.time
        receiver = event.receiver
        place = event.place
        beacon = event.identity
        detail = Self.json { EventJSON.append(event, to: &$0) }
        switch event.state {
        case .inside:
            let isBack = event.place == event.before
            summary = "\(name) is \(isBack ? "still " : "")in \(event.place ?? "a place")"
        case .outside: summary = "\(name) is in no place"
        case .unknown: summary = "\(name) is in an unknown place"
        }
    }

    /// Creates the event of a beacon that may have been cloned.
    ///
    /// - Parameters:
    ///   - event: the suspicion.
    ///   - name: the user's name for the beacon.
    init(_ event: SuspicionEvent, name: String) {
        kind = .suspicious
        time = event.time
        receiver = event.receiver
        beacon = event.identity
        detail = Self.json { EventJSON.append(event, to: &$0) }
        summary = Self.summary(of: event.grounds, name)
    }

    /// Returns the grounds of a suspicion, as a sentence.
    package static func summary(of grounds: SuspicionEvidence?, _ name: String) -> String {
        guard let grounds, let first = grounds.receivers.first, let last = grounds.receivers.last else {
            return "\(name) may have been cloned"
        }
        let apart = grounds.distance.map { ", \(Int($0.rounded())) m apart" } ?? ""
        let seconds = DurationText.text(.seconds(max(Int(grounds.seconds.rounded()), 1)))
        let what =
            switch grounds.reason {
            case .apart: "is heard close to \(first) and close to \(last) at the same time\(apart)"
            case .speed: "moved from \(first) to \(last) in \(seconds)\(apart)"
            case .addresses:
                "alternates between two addresses: \(grounds.addresses.joined(separator: " and "))"
                    + (first == last ? ", at \(first)" : ", at \(first) and \(last)")
            default: "is suspicious (\(grounds.reason))"
            }
        return "\(name) \(what); it may have been cloned"
    }

    /// Creates the event of a beacon's change of proximity that caused a notification.
    init?(_ notification: BeaconNotification, name: (BeaconIdentity) -> String) {
        guard notification.kind == .proximity || notification.kind == .gone, let beacon = notification.beacon else {
            return nil
        }
        kind = notification.kind == .gone ? .gone : .proximity
        time = notification.time
        receiver = notification.receiver
        region = notification.region?.name
        self.beacon = beacon
        let proximity = notification.proximity?.description ?? "unknown"
        summary = kind == .gone ? "\(name(beacon)) is gone" : "\(name(beacon)) is \(proximity)"
        detail = Self.json { buffer in
            buffer.append(contentsOf: "{\"event\":\"\(notification.kind)\",\"proximity\":\"\(proximity)\"".utf8)
            if let accuracy = notification.accuracy { buffer.append(contentsOf: ",\"accuracy\":\(accuracy)".utf8) }
            if let rssi = notification.rssi { buffer.append(contentsOf: ",\"rssi\":\(rssi)".utf8) }
            buffer.append(contentsOf: "}".utf8)
        }
    }

    /// Returns a summary of a notification, as a sentence.
    package static func summary(of notification: BeaconNotification) -> String {
        let beacon = notification.beacon.map { "\($0.major)/\($0.minor)" } ?? "a beacon"
        let region = notification.region?.name ?? "a region"
        switch notification.kind {
        case .enter: return "\(region) was entered"
        case .exit: return "\(region) was left"
        case .proximity: return "\(beacon) is \(notification.proximity?.description ?? "unknown")"
        case .gone: return "\(beacon) is gone"
        case .place: return "\(beacon) is in \(notification.place ?? "no place")"
        case .suspicious: return summary(of: notification.suspicion, beacon)
        case .heartbeat: return "heartbeat with the present beacons"
        default: return notification.name ?? notification.kind.rawValue
        }
    }

    /// Creates the event of a receiver that hears again, or no longer.
    ///
    /// - Parameters:
    ///   - receiver: its name.
    ///   - isHearing: whether it hears.
    ///   - reason: why it does not hear, as the subject and verb of a sentence.
    init(receiver: String, isHearing: Bool, because reason: String?, at time: Timestamp) {
        kind = .receiver
        self.time = time
        self.receiver = receiver
        let cause = reason.map { ": \($0)" } ?? ""
        summary = isHearing ? "\(receiver) hears" : "\(receiver) does not hear\(cause)"
        detail = "{\"event\":\"receiver\",\"hearing\":\(isHearing)}"
    }

    /// Creates an event from its stored parts.
    package init(
        time: Timestamp, kind: Kind, summary: String, receiver: String?, region: String?, place: String?,
        beacon: BeaconIdentity?, detail: String
    ) {
        self.time = time
        self.kind = kind
        self.summary = summary
        self.receiver = receiver
        self.region = region
        self.place = place
        self.beacon = beacon
        self.detail = detail
    }

    private static func json(_ append: (inout [UInt8]) -> Void) -> String {
        var line: [UInt8] = []
        append(&line)
        if line.last == UInt8(ascii: "\n") { line.removeLast() }
        return String(decoding: line, as: UTF8.self)
    }
}

/// An event of the history, as it is stored.
package struct NumberedEvent: Sendable {
    /// The id, which identifies repetitions.
    package var id: EventID
    /// The number in the history, from which listeners resume; nil while the event waits for the disk.
    package var number: Int64?
    /// The time of arrival; nil before it is stored.
    package var arrival: Timestamp?
    package var event: HistoryEvent
}

// An event of the history in the event store. Attributes of the stored event are the event's; the rest is in the body,
// under "history". The body may also contain a notification.

extension HistoryEvent {
    private struct Body: Codable {
        var history: Form
    }

    private struct Form: Codable {
        var summary: String
        /// JSON as text, so that it is returned exactly as it was created.
        var detail: String
        var region: String?
        var place: String?
        var user: String?
    }

    private var form: Form { Form(summary: summary, detail: detail, region: region, place: place, user: user) }

    /// Returns the event for the store.
    ///
    /// - Parameters:
    ///   - id: its id.
    ///   - audience: the names of its consumers.
    func event(_ id: EventID, for audience: [String]) -> Event {
        var event = Event(id: id, time: time, kind: kind.rawValue, priority: kind.priority)
        (event.region, event.place) = (Event.attribute(region), Event.attribute(place))
        (event.receiver, event.sender) = (Event.attribute(receiver), Event.attribute(sender))
        event.install = Event.attribute(install)
        (event.beacon, event.audience) = (beacon, audience)
        event.body = (try? JSONEncoder.interface.encode(Body(history: form))) ?? Data()
        return event
    }

    /// Adds the history's form to the event of a notification.
    func add(to event: inout Event) {
        guard let form = try? JSONEncoder.interface.encode(form), event.body.last == UInt8(ascii: "}"),
            event.body.count + form.count + 12 <= Event.maximumBody
        else { return }
        event.body.removeLast()
        event.body += Data(",\"history\":".utf8) + form + Data("}".utf8)
    }

    /// Reads an event of the store.
    ///
    /// - Returns: nil for an event that the history does not show, such as a heartbeat.
    init?(_ event: Event) {
        guard let kind = Kind(rawValue: event.kind),
            let form = try? JSONDecoder().decode(Body.self, from: event.body).history
        else { return nil }
        self.init(
            time: event.time, kind: kind, summary: form.summary, receiver: event.receiver, region: form.region,
            place: form.place, beacon: event.beacon, detail: form.detail)
        // The store corrects the event's time if the clock is set.
        if event.sender == nil, let written = detail.prefixMatch(of: /\{"time":[0-9.]+/) {
            var start = Array("{\"time\":".utf8)
            start.append(jsonTime: event.time)
            detail.replaceSubrange(written.range, with: String(decoding: start, as: UTF8.self))
        }
        (sender, install, user) = (event.sender, event.install, form.user)
    }
}

extension NumberedEvent {
    /// Reads an event of the store; nil for an event that the history does not show.
    init?(_ stored: StoredEvent) {
        guard let event = HistoryEvent(stored.event) else { return nil }
        self.init(id: stored.event.id, number: stored.number, arrival: stored.arrival, event: event)
    }
}
