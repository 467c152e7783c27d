package import BeaconDelivery
import BeaconEventStore
package import BeaconModel
import BeaconSupport
import Foundation

/// An event as it is kept in the history and shown in the console.
package struct HistoryEvent: Sendable {
    /// A kind of event, by its word.
    package enum Kind: String, Sendable, CaseIterable {
        case enter, exit, state, place, proximity, gone, receiver
        /// An identity is heard as no single device can be.
        case suspicious
        /// An event of an app's own.
        case app
        /// An app has said who its user is.
        case user

        /// True where rules look at such an event that happened here. Proximity is decided of each second's report.
        var isForRules: Bool {
            switch self {
            case .enter, .exit, .place, .suspicious: true
            case .state, .proximity, .gone, .receiver, .app, .user: false
            }
        }

        /// The order in which events are given up where not all can be kept.
        var priority: Event.Priority {
            switch self {
            case .enter, .exit, .suspicious, .app, .user: .essential
            case .state, .place, .receiver: .normal
            case .proximity, .gone: .repeated
            }
        }
    }

    /// The name of the consumer that has the rules look at events.
    static let rules = ".rules"

    /// The moment, by the wall clock.
    package var time: Timestamp
    package var kind: Kind
    /// What happened, in a sentence without a full stop.
    package var summary: String
    package var receiver: String?
    package var region: String?
    package var place: String?
    package var beacon: BeaconIdentity?
    /// The event's own JSON, as destinations and programs get it.
    package var detail: String
    /// Who sent it: an app or a webhook, by its name; nil for what was heard here.
    package var sender: String?
    /// The install of the app, by its identifier.
    package var install: String?
    /// The user of the install, as the app names them; the install's own identifier where the app knows nobody, and nil
    /// where it did not say.
    package var user: String?
    /// The user; nil where nobody is known.
    package var person: String? { user == install ? nil : user }

    /// An event of its parts.
    ///
    /// - Parameters:
    ///   - time: the moment, by the wall clock.
    ///   - kind: what happened.
    ///   - summary: the same in a sentence without a full stop.
    ///   - receiver: who heard it.
    ///   - region: the region's name.
    ///   - place: the place.
    ///   - beacon: the beacon.
    ///   - detail: the event's own JSON.
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

    /// A change of a region.
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
            case .inside: summary = "\(event.name): somebody is there"
            case .outside: summary = "\(event.name): nobody is there"
            case .unknown: summary = "\(event.name): nothing is known while its receivers do not hear"
            }
        }
    }

    /// A beacon's change of place.
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
        case .unknown: summary = "\(name) is somewhere unknown"
        }
    }

    /// A beacon that may have been cloned.
    ///
    /// - Parameters:
    ///   - event: what was heard.
    ///   - name: the user's name for the beacon.
    init(_ event: SuspicionEvent, name: String) {
        kind = .suspicious
        time = event.time
        receiver = event.receiver
        beacon = event.identity
        detail = Self.json { EventJSON.append(event, to: &$0) }
        summary = Self.summary(of: event.grounds, name)
    }

    /// Returns what is suspicious of a beacon, in a sentence.
    package static func summary(of grounds: SuspicionGrounds?, _ name: String) -> String {
        guard let grounds, let first = grounds.receivers.first, let last = grounds.receivers.last else {
            return "\(name) may have been cloned"
        }
        let apart = grounds.distance.map { ", \(Int($0.rounded())) m apart" } ?? ""
        let seconds = DurationText.text(.seconds(max(Int(grounds.seconds.rounded()), 1)))
        let what =
            switch grounds.reason {
            case .apart: "is heard close to \(first) and close to \(last) at once\(apart)"
            case .speed: "came from \(first) to \(last) in \(seconds)\(apart)"
            case .addresses:
                "comes from two addresses in turns: \(grounds.addresses.joined(separator: " and "))"
                    + (first == last ? ", at \(first)" : ", at \(first) and \(last)")
            default: "is suspicious (\(grounds.reason))"
            }
        return "\(name) \(what); it may have been cloned"
    }

    /// A change of a beacon's proximity, of which somebody was notified.
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

    /// Returns what a notification says, in a sentence.
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
        case .heartbeat: return "who is there"
        default: return notification.name ?? notification.kind.rawValue
        }
    }

    /// A receiver that hears again, or hears no longer.
    ///
    /// - Parameters:
    ///   - receiver: its name.
    ///   - isHearing: whether it hears.
    ///   - reason: why it does not, as the subject and verb of a sentence.
    init(receiver: String, isHearing: Bool, because reason: String?, at time: Timestamp) {
        kind = .receiver
        self.time = time
        self.receiver = receiver
        let cause = reason.map { ": \($0)" } ?? ""
        summary = isHearing ? "\(receiver) hears" : "\(receiver) does not hear\(cause)"
        detail = "{\"event\":\"receiver\",\"hearing\":\(isHearing)}"
    }

    /// An event as it was kept.
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

/// An event of the history, as the store has it.
package struct NumberedEvent: Sendable {
    /// The name. It identifies repetitions.
    package var id: EventID
    /// The number. Listeners resume after it. Nil while the event waits for the disk.
    package var number: Int64?
    /// When it came; nil before it was kept.
    package var arrival: Timestamp?
    package var event: HistoryEvent
}

// An event of the history in the event store: its attributes are the event's, and the rest is in the body, under
// "history". The body may also have a notification's keys.

extension HistoryEvent {
    private struct Body: Codable {
        var history: Form
    }

    private struct Form: Codable {
        var summary: String
        /// JSON, in a text, so that it is answered as it was made.
        var detail: String
        var region: String?
        var place: String?
        var user: String?
    }

    private var form: Form { Form(summary: summary, detail: detail, region: region, place: place, user: user) }

    /// Returns the event for the store.
    ///
    /// - Parameters:
    ///   - id: its name.
    ///   - audience: the consumers that it is for.
    func event(_ id: EventID, for audience: [String]) -> Event {
        var event = Event(id: id, time: time, kind: kind.rawValue, priority: kind.priority)
        (event.region, event.place) = (Event.attribute(region), Event.attribute(place))
        (event.receiver, event.sender) = (Event.attribute(receiver), Event.attribute(sender))
        event.install = Event.attribute(install)
        (event.beacon, event.audience) = (beacon, audience)
        event.body = (try? JSONEncoder.interface.encode(Body(history: form))) ?? Data()
        return event
    }

    /// Adds what the history shows to the event of a notification.
    func add(to event: inout Event) {
        guard let form = try? JSONEncoder.interface.encode(form), event.body.last == UInt8(ascii: "}"),
            event.body.count + form.count + 12 <= Event.maximumBody
        else { return }
        event.body.removeLast()
        event.body += Data(",\"history\":".utf8) + form + Data("}".utf8)
    }

    /// Reads an event of the store.
    ///
    /// - Returns: nil for one that the history does not show, such as a heartbeat.
    init?(_ event: Event) {
        guard let kind = Kind(rawValue: event.kind),
            let form = try? JSONDecoder().decode(Body.self, from: event.body).history
        else { return nil }
        self.init(
            time: event.time, kind: kind, summary: form.summary, receiver: event.receiver, region: form.region,
            place: form.place, beacon: event.beacon, detail: form.detail)
        (sender, install, user) = (event.sender, event.install, form.user)
    }
}

extension NumberedEvent {
    /// Reads an event of the store; nil for one that the history does not show.
    init?(_ stored: StoredEvent) {
        guard let event = HistoryEvent(stored.event) else { return nil }
        self.init(id: stored.event.id, number: stored.number, arrival: stored.arrival, event: event)
    }
}
