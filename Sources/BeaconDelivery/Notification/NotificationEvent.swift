package import BeaconEventStore
import BeaconModel
import Foundation

extension BeaconNotification {
    /// The beginning of the body of an event that cannot be sent.
    private static let unsendable = Data("{\"unsendable\":".utf8)

    private struct Refusal: Decodable {
        var unsendable: String
    }

    /// Returns the event by which the store keeps the notification. Its name is the notification's, its body the JSON.
    ///
    /// One that cannot be written as JSON, or is too long, becomes an event without what could not be written, which
    /// every destination refuses for that reason.
    ///
    /// - Parameter audience: the destinations that it names; nil for all that want it.
    /// - Throws: ``/BeaconEventStore/EventStoreError`` with the code `invalid`, where nothing of it can be written.
    package func event(for audience: [String]? = nil) throws(EventStoreError) -> Event {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        let fault: String
        do {
            let json = try encoder.encode(self)
            if json.count <= Event.maximumBody { return event(json, for: audience) }
            fault = "it has \(json.count) bytes, more than the \(Event.maximumBody) that an event can hold"
        } catch {
            fault = "it cannot be written as JSON: \(error)"
        }
        var rest = self
        (rest.accuracy, rest.properties, rest.presence) = (nil, nil, nil)
        do {
            let reason = try encoder.encode("\(fault). What could not be written is left out here")
            let json = Self.unsendable + reason + Data(",".utf8) + (try encoder.encode(rest)).dropFirst()
            return event(json, for: audience)
        } catch {
            throw EventStoreError(
                .invalid, "the notification \(id) cannot be written as JSON: \(error)", cause: error)
        }
    }

    private func event(_ json: Data, for audience: [String]?) -> Event {
        var event = Event(id: id, time: time, kind: kind.rawValue, priority: kind.priority, body: json)
        // The body has those that are too long as well.
        (event.region, event.place) = (Event.attribute(region?.name), Event.attribute(place))
        event.receiver = Event.attribute(receiver)
        event.beacon = beacon
        event.audience = audience
        return event
    }

    /// Reads an event's notification.
    ///
    /// - Returns: nil if the body is no notification's.
    package init?(_ event: Event) {
        let notification = try? JSONDecoder().decode(BeaconNotification.self, from: event.body)
        guard let notification else { return nil }
        self = notification
    }

    /// The reason why an event cannot be sent; nil where it can.
    static func refusal(of event: Event) -> String? {
        guard event.body.starts(with: unsendable) else { return nil }
        return (try? JSONDecoder().decode(Refusal.self, from: event.body))?.unsendable
    }
}

extension BeaconNotification.Kind {
    /// The order in which notifications are given up where not all can be kept: no number of beacons, real or invented,
    /// pushes out an enter or an exit.
    package var priority: Event.Priority {
        switch self {
        case .heartbeat: .latest
        case .proximity, .gone: .repeated
        case .place: .normal
        default: .essential
        }
    }
}
