import BeaconDelivery
import BeaconEngine
import BeaconGateway
import BeaconModel
import BeaconSupport
import Foundation
import Hummingbird

/// An event as apps with Kumulos' SDK send it (SDK for Swift 10.0.0).
struct AppEventForm: Decodable {
    var type: String
    var uuid: String
    /// Milliseconds since 1970. Seconds are recognized.
    var timestamp: Double?
    var data: JSONValue?
    var userId: String?

    /// The longest type, event ID or user name, and the longest install ID, in bytes of UTF-8.
    static let longestName = 200
    static let longestInstall = 100

    /// The largest data of an event, in bytes of JSON, and the largest event. The history limits the number of events,
    /// not their size.
    private static let largestData = 16 << 10
    static let largestEvent = 64 << 10

    /// Decoding does not tell these apart.
    private static let unreadable = "is not valid JSON, or has a number that is too large or half of a character"

    /// Reads an event.
    ///
    /// - Throws: ``Problem``, whose only fault has the key at fault; an empty key for the event itself.
    init(_ json: Data) throws {
        guard json.count <= Self.largestEvent else {
            throw Self.problem("", "has more than \(Self.largestEvent) bytes")
        }
        self = try Self.decoded(from: json, else: Self.unreadable)
        for (key, text) in [("type", type), ("uuid", uuid)] where !Self.isName(text) {
            throw Self.problem(key, "must be a text of 1 to \(Self.longestName) bytes on one line")
        }
        if let data, try JSONEncoder().encode(data).count > Self.largestData {
            throw Self.problem("data", "has more than \(Self.largestData) bytes")
        }
    }

    private static func problem(_ key: String, _ what: String) -> Problem {
        Problem(.unprocessableContent, key: key, what)
    }

    /// Returns true for a valid name. SQLite ends text at a NUL, and no real name has other control characters.
    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= longestName
            && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    /// Returns the event for the history.
    ///
    /// - Parameters:
    ///   - install: the install that sent the event.
    ///   - app: the install's app.
    ///   - now: the time of arrival.
    ///   - configuration: the configuration with the names of beacons and regions.
    func event(of install: String, _ app: String, at now: Timestamp, in configuration: GatewayConfiguration)
        -> BeaconNotification
    {
        // A phone's clock may be ahead, but no event is in the future.
        let time = min(timestamp.flatMap(Self.time(of:)) ?? now, now)
        let id = EventID(hashing: "\(app)\u{0}\(uuid.lowercased())")
        var user = userId.flatMap { Self.isName($0) ? $0 : nil }
        let who = user.flatMap { $0 == install ? nil : $0 } ?? "install \(install.prefix(8))"
        var values: [String: JSONValue] = if case .object(let values)? = data { values } else { [:] }
        var event = BeaconNotification(id: id, kind: .app, time: time)
        event.summary = "\(type) of \(who)"
        switch type {
        case "k.engage.beaconEnteredProximity":
            guard let (beacon, proximity) = Self.beacon(in: values) else {
                event.summary = Self.eddystone(in: values).map { "\(who) is near \($0)" } ?? event.summary
                break
            }
            (event.kind, event.beacon, event.proximity) = (.proximity, beacon, proximity)
            event.region = configuration.region(of: beacon)
            event.add(configuration.beacons.first { $0.identity == beacon })
            event.summary = "\(who) is \(proximity) at \(event.beaconName ?? "\(beacon.major)/\(beacon.minor)")"
            values = [:]
        case "k.stats.userAssociated":
            guard case .string(let name)? = values["id"], Self.isName(name) else { break }
            (event.kind, user) = (.user, name)
            event.summary = "install \(install.prefix(8)) is \(name)'s"
        case "k.stats.userAssociationCleared":
            (event.kind, user) = (.user, install)
            event.summary = "install \(install.prefix(8)) has no user"
        default:
            if let verb = Self.messageVerbs[type], values["type"] == .integer(2),
                case .integer(let number)? = values["id"]
            {
                event.summary = "\(who) \(verb) message \(number)"
            }
        }
        // The SDKs' own data can have a type, too: 2 is a message in an app, and a beacon with Eddystone.
        if let own = values["type"] { values["dataType"] = own }
        values["type"] = .string(type)
        // It tells an app without a user from an app that names none.
        if user == install { values["userId"] = .string(install) }
        (event.sender, event.install, event.person, event.data) = (app, install, user == install ? nil : user, values)
        return event
    }

    /// Returns the time of a timestamp, or nil if it is invalid.
    ///
    /// Apps send milliseconds. A clock that starts in 1970 gives small numbers; larger ones show their unit.
    private static func time(of timestamp: Double) -> Timestamp? {
        timestamp < 1e9 ? Timestamp(seconds: timestamp / 1000) : Timestamp(since1970: timestamp)
    }

    /// The verb for an action of the user on a message, by the type of the event.
    private static let messageVerbs = [
        "k.message.delivered": "received", "k.message.opened": "opened", "k.message.read": "read",
        "k.message.dismissed": "closed", "k.message.inbox.deleted": "deleted",
    ]

    /// Returns the name of an Eddystone beacon with its distance, as OptimoveSDK reports it; nil for other data.
    private static func eddystone(in values: [String: JSONValue]) -> String? {
        guard case .string(let namespace)? = values["namespace"], case .string(let instance)? = values["instance"],
            isName(namespace), isName(instance)
        else { return nil }
        let meters: Double? =
            switch values["distance"] {
            case .integer(let value)?: Double(value)
            case .number(let value)?: value
            default: nil
            }
        let distance = meters.map { ", \(String(format: "%.1f", $0)) m away" } ?? ""
        return "the Eddystone beacon \(namespace) \(instance)\(distance)"
    }

    /// Returns the beacon and the proximity of an event. Its numbers may be strings.
    private static func beacon(in values: [String: JSONValue]) -> (BeaconIdentity, Proximity)? {
        func number(_ key: String) -> Int? {
            switch values[key] {
            case .integer(let value)?: Int(value)
            case .string(let text)?: Int(text)
            default: nil
            }
        }
        guard case .string(let text)? = values["uuid"], let uuid = ProximityUUID(text),
            let major = number("major").flatMap({ UInt16(exactly: $0) }),
            let minor = number("minor").flatMap({ UInt16(exactly: $0) }),
            let proximity = number("proximity").flatMap({ UInt8(exactly: $0) }).flatMap({ Proximity(rawValue: $0) })
        else { return nil }
        return (BeaconIdentity(uuid: uuid, major: major, minor: minor), proximity)
    }
}

/// An event of an app that cannot be used, with the reason. The history keeps it, so that the app can go on: Kumulos'
/// SDK sends a batch that is not accepted again, before all later events.
struct RefusedAppEvent: Sendable {
    /// The position in the request, and the key at fault.
    let fault: Problem.Fault
    private let text: String

    /// The most bytes of the event that are kept.
    private static let kept = 1_000

    /// Creates the refusal of the event at a position.
    init(_ json: Data, at index: Int, _ error: any Error) {
        let problem = error as? Problem
        let key = problem?.errors.first?.key ?? ""
        fault = .init(
            key: key.isEmpty ? "\(index)" : "\(index).\(key)",
            detail: problem?.errors.first?.detail ?? problem?.detail ?? "cannot be read")
        text = String(decoding: json, as: UTF8.self)
    }

    /// Creates the refusal of a whole request.
    init(request size: Int, largest: Int) {
        fault = .init(key: "", detail: "has \(size) bytes; send at most \(largest) at once")
        text = "\(size) \(UUID())"
    }

    /// Returns the event for the history.
    func event(of install: String, _ app: String, at now: Timestamp) -> BeaconNotification {
        // The same event is kept once.
        var event = BeaconNotification(
            id: EventID(hashing: "\(app)\u{0}refused\u{0}\(install)\u{0}\(text)"), kind: .refused, time: now)
        let key = fault.key.split(separator: ".").dropFirst().joined(separator: ".")
        let what = fault.key.isEmpty ? "request" : "event"
        event.summary =
            "\(what) of install \(install.prefix(8)) is refused: \(key.isEmpty ? "it" : "\"\(key)\"") \(fault.detail)"
        (event.sender, event.install) = (app, install)
        event.data = ["reason": .string(fault.detail), "key": .string(key)]
        if !fault.key.isEmpty {
            event.data?["event"] = .string(String(decoding: text.utf8.prefix(Self.kept), as: UTF8.self))
        }
        return event
    }
}

/// A request with events of an app.
struct AppEventBatch {
    /// The largest number of events in a request.
    private static let maximumEvents = 1_000

    private(set) var events: [AppEventForm] = []
    private(set) var refused: [RefusedAppEvent] = []

    /// Creates a batch with no event.
    init(refusing refused: RefusedAppEvent) { self.refused = [refused] }

    /// Reads the events of a request one by one, so that a faulty one does not spoil the others.
    ///
    /// - Throws: ``Problem`` if the request is no list, or has too many events.
    init(_ body: Data) throws {
        guard let parts = JSONElements.of([UInt8](body)) else {
            throw Problem(.badRequest, "the body is not a JSON list of events")
        }
        guard parts.count <= Self.maximumEvents else {
            throw Problem(
                .contentTooLarge, "the request has \(parts.count) events; send at most \(Self.maximumEvents) at once")
        }
        for (index, part) in parts.map({ Data($0) }).enumerated() {
            do {
                events.append(try AppEventForm(part))
            } catch {
                refused.append(RefusedAppEvent(part, at: index, error))
            }
        }
    }
}
