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

    /// The largest number of events in a request, and the largest data of one event, in bytes of JSON. The history
    /// limits the number of events, not their size.
    private static let maximumEvents = 1_000
    private static let largestData = 16 << 10

    /// Reads the events of a request.
    ///
    /// - Throws: ``Problem``, which names the fault and its position. The sender then keeps all events.
    static func read(_ body: Data) throws -> [AppEventForm] {
        let events = try [AppEventForm].decoded(from: body, else: "the body is not a JSON list of events")
        guard events.count <= maximumEvents else {
            throw Problem(
                .contentTooLarge, "the request has \(events.count) events; send at most \(maximumEvents) at once")
        }
        let encoder = JSONEncoder()
        for (index, event) in events.enumerated() {
            for (key, text) in [("type", event.type), ("uuid", event.uuid)] where !isName(text) {
                throw problem(of: index, key, "must be a text of 1 to \(longestName) bytes on one line")
            }
            if let data = event.data, try encoder.encode(data).count > largestData {
                throw problem(of: index, "data", "has more than \(largestData) bytes")
            }
        }
        return events
    }

    /// Returns true for a valid name. SQLite ends text at a NUL, and no real name has other control characters.
    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= longestName
            && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    /// Returns the problem of a value of an event.
    fileprivate static func problem(of index: Int, _ key: String, _ what: String) -> Problem {
        Problem(
            .unprocessableContent, "event \(index): \"\(key)\" \(what)", key: "\(index).\(key)", what)
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
            guard let (beacon, proximity) = Self.beacon(in: values) else { break }
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
        default: break
        }
        values["type"] = values["type"] ?? .string(type)
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

/// An event of another beacond, as its webhook sends it (CloudEvents 1.0.2, JSON format).
struct CloudEventForm: Decodable {
    var specversion: String
    var id: String
    var source: String
    var type: String
    var data: BeaconNotification

    /// The largest event, in bytes of JSON in the history.
    private static let largestDetail = 16 << 10

    /// Reads the event or the events of a request.
    ///
    /// - Throws: ``Problem``. The sender then retries the events, or moves them to its dead letters.
    static func read(_ body: Data, media: String) throws -> [CloudEventForm] {
        try JSONDepth.check(body)
        let events: [CloudEventForm]
        do {
            switch media {
            case "application/cloudevents+json": events = [try JSONDecoder().decode(Self.self, from: body)]
            case "application/cloudevents-batch+json": events = try JSONDecoder().decode([Self].self, from: body)
            default:
                throw Problem(
                    .unsupportedMediaType,
                    "send application/cloudevents+json or application/cloudevents-batch+json, as beacond's webhook does"
                )
            }
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Problem(.unprocessableContent, "the body is not a CloudEvent of beacond")
        }
        for (index, event) in events.enumerated() { try event.check(at: index) }
        return events
    }

    /// Refuses an event whose name or size the history cannot store.
    ///
    /// - Throws: ``Problem``.
    private func check(at index: Int) throws {
        func refuse(_ key: String, _ detail: String) throws -> Never {
            throw AppEventForm.problem(of: index, key, detail)
        }
        // They identify a repeated event (CloudEvents 1.0.2, "id" and "source").
        for (key, text) in [("id", id), ("source", source), ("type", type)] where !AppEventForm.isName(text) {
            try refuse(key, "must be a text of 1 to \(AppEventForm.longestName) bytes on one line")
        }
        guard specversion == "1.0" else { try refuse("specversion", "must be 1.0") }
        for (key, text) in [
            ("receiver", data.receiver), ("place", data.place), ("name", data.name), ("user", data.user),
            ("region", data.region?.name),
        ] {
            if let text, !text.isEmpty, !AppEventForm.isName(text) {
                try refuse("data.\(key)", "must be a text of at most \(AppEventForm.longestName) bytes on one line")
            }
        }
        guard try JSONEncoder().encode(data).count <= Self.largestDetail else {
            try refuse("data", "has more than \(Self.largestDetail) bytes")
        }
    }

    /// Returns the event for the history, as the other gateway sent it; nil for a kind that the history does not have.
    func event(of webhook: String, at now: Timestamp, in configuration: GatewayConfiguration) -> BeaconNotification? {
        let kinds: Set<BeaconNotification.Kind> = [.enter, .exit, .proximity, .gone, .place, .application, .suspicious]
        guard kinds.contains(data.kind) else { return nil }
        var event = data
        event.id = EventID(hashing: "\(webhook)\u{0}\(id)")
        event.time = min(data.time, now)
        if event.kind == .application { event.kind = .app }
        (event.sender, event.person, event.user) = (webhook, data.user, nil)
        event.data = data.name.map { ["type": .string($0)] }
        event.add(configuration.beacons.first { $0.identity == data.beacon })
        event.summary = event.summarized()
        return event
    }
}

extension BeaconNotification {
    /// Adds the name, the attributes and the fixed place of its beacon.
    fileprivate mutating func add(_ beacon: BeaconSettings?) {
        guard let beacon else { return }
        (beaconName, beaconAttributes) = (beacon.name, beacon.attributes)
        if kind != .place { place = beacon.place }
    }
}

extension GatewayConfiguration {
    /// Returns the smallest region that a beacon belongs to, or nil if it belongs to no region.
    func region(of beacon: BeaconIdentity) -> BeaconNotification.Region? {
        notifiedRegions.filter { $0.constraint.matches(beacon) }.max {
            $0.constraint.precision < $1.constraint.precision
        }
    }
}

extension BeaconConstraint {
    /// The number of a beacon's numbers that the constraint sets.
    fileprivate var precision: Int { (major == nil ? 0 : 1) + (minor == nil ? 0 : 1) }
}
