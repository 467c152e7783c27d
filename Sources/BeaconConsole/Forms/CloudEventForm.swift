import BeaconDelivery
import BeaconEngine
import BeaconGateway
import BeaconModel
import BeaconSupport
import Foundation
import Hummingbird

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
            throw Problem(
                .unprocessableContent, "event \(index): \"\(key)\" \(detail)", key: "\(index).\(key)", detail)
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
    mutating func add(_ beacon: BeaconSettings?) {
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
