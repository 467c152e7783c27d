package import BeaconEventStore
import BeaconModel
import Foundation

extension BeaconNotification {
    /// The beginning of the body of an event that cannot be sent.
    private static let unsendable = Data("{\"unsendable\":".utf8)

    private struct Refusal: Decodable {
        var unsendable: String
    }

    /// Returns the event that stores the notification. The event's id is the notification's, and its body is the JSON
    /// form.
    ///
    /// If the notification cannot be encoded or is too long, the event omits the part that cannot be written. Every
    /// destination refuses such an event with that reason.
    ///
    /// - Parameter audience: the destinations of the event; nil for all that accept it.
    /// - Throws: ``/BeaconEventStore/EventStoreError`` with the code `invalid` if no event can be made of it.
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
            let reason = try encoder.encode("\(fault). This notification omits the part that cannot be written")
            let json = Self.unsendable + reason + Data(",".utf8) + (try encoder.encode(rest)).dropFirst()
            return event(json, for: audience)
        } catch {
            throw EventStoreError(
                .invalid, "the notification \(id) cannot be written as JSON: \(error)", cause: error)
        }
    }

    private func event(_ json: Data, for audience: [String]?) -> Event {
        var event = Event(id: id, time: time, kind: kind.rawValue, priority: kind.priority, body: json)
        // The body contains names that are too long for an attribute as well.
        (event.region, event.place) = (Event.attribute(region?.name), Event.attribute(place))
        event.receiver = Event.attribute(receiver)
        event.beacon = beacon
        event.audience = audience
        return event
    }

    /// Decodes an event's notification. Its time is the event's, which the store corrects if the clock is set.
    ///
    /// - Returns: The notification, or nil if the body is not a notification.
    package init?(_ event: Event) {
        let notification = try? JSONDecoder().decode(BeaconNotification.self, from: event.body)
        guard let notification else { return nil }
        self = notification
        time = event.time
    }

    /// Returns the reason why an event cannot be sent; nil if it can.
    static func refusal(of event: Event) -> String? {
        guard event.body.starts(with: unsendable) else { return nil }
        return (try? JSONDecoder().decode(Refusal.self, from: event.body))?.unsendable
    }
}

extension BeaconNotification.Kind {
    /// The priority of a notification when not all can be kept. No number of beacons, real or forged, displaces an
    /// enter or an exit.
    package var priority: Event.Priority {
        switch self {
        case .heartbeat: .latest
        case .proximity, .gone: .repeated
        case .place: .normal
        default: .essential
        }
    }
}
