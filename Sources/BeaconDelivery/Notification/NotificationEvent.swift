package import BeaconEventStore
package import BeaconModel
package import Foundation

extension BeaconNotification {
    /// The beginning of the body of an event that cannot be sent.
    private static let unsendable = Data("{\"unsendable\":".utf8)

    /// The private part of a stored event: members of the event in the interface.
    private struct Private: Codable {
        var summary: String
        var user: JSONValue
        var data: [String: JSONValue]?
    }

    /// Returns the event that stores the notification. Its id is the notification's, its body is the JSON form without
    /// the time, and its private part is the rest.
    ///
    /// If the notification cannot be encoded or is too long, the event omits the part that cannot be written. Every
    /// destination refuses such an event with that reason.
    ///
    /// - Parameter audience: the consumers of the event; nil for all that accept it.
    /// - Throws: ``/BeaconEventStore/EventStoreError`` with the code `invalid` if no event can be made of it.
    package func event(for audience: [String]? = nil) throws(EventStoreError) -> Event {
        let encoder = JSONEncoder.sorted
        Self.omitsTime.map { encoder.userInfo[$0] = true }
        var event = Event(id: id, time: time, kind: kind.rawValue, priority: kind.priority)
        // The body contains names that are too long for an attribute as well.
        (event.region, event.place) = (Event.attribute(region?.name), Event.attribute(place))
        (event.receiver, event.beacon) = (Event.attribute(receiver), beacon)
        (event.sender, event.install) = (Event.attribute(sender), Event.attribute(install))
        event.audience = audience
        let fault: String
        do {
            if !summary.isEmpty {
                let user = person.map(JSONValue.string) ?? .null
                event.private = try encoder.encode(Private(summary: summary, user: user, data: data))
            }
            event.body = try encoder.encode(self)
            if event.body.count <= Event.maximumBody { return event }
            fault = "it has \(event.body.count) bytes, more than the \(Event.maximumBody) that an event can hold"
        } catch {
            fault = "it cannot be written as JSON: \(error)"
        }
        var rest = self
        (rest.accuracy, rest.properties, rest.presence) = (nil, nil, nil)
        do {
            let reason = try encoder.encode("\(fault). This notification omits the part that cannot be written")
            event.body = Self.unsendable + reason + Data(",".utf8) + (try encoder.encode(rest)).dropFirst()
            return event
        } catch {
            throw EventStoreError(
                .invalid, "the notification \(id) cannot be written as JSON: \(error)", cause: error)
        }
    }

    /// Decodes an event's notification. Its time is the event's, which the store corrects if the clock is set.
    ///
    /// Most outputs send the stored JSON as it is. `scripts/lint` names the files that decode it.
    ///
    /// - Returns: The notification, or nil if the body is not a notification.
    package init?(decoding event: Event) {
        guard let notification = try? JSONDecoder().decode(BeaconNotification.self, from: event.json) else {
            return nil
        }
        self = notification
        (sender, install) = (event.sender, event.install)
        guard let own = try? JSONDecoder().decode(Private.self, from: event.private) else { return }
        (summary, data) = (own.summary, own.data)
        if case .string(let user) = own.user { person = user }
    }

    /// Returns the reason why an event cannot be sent; nil if it can.
    static func refusal(of event: Event) -> String? {
        if event.body.starts(with: unsendable) { return event.body.text(of: "unsendable") ?? "" }
        let isObject = event.body.count > 2 && event.body.first == UInt8(ascii: "{")
        return isObject && event.body.last == UInt8(ascii: "}") ? nil : "its content cannot be read"
    }
}

extension Event {
    /// The JSON that destinations receive: the body with the event's time, which the store corrects if the clock is
    /// set.
    package var json: Data { Data("{\"time\":\(time.decimalSeconds),".utf8) + body.dropFirst() }

    /// Returns the JSON of an object with ``json`` as a further member.
    package func json(in object: some Encodable, as key: String) throws -> Data {
        try JSONEncoder.sorted.encode(object).dropLast() + Data(",\"\(key)\":".utf8) + json + Data("}".utf8)
    }
}

extension Data {
    /// Returns the JSON of a member of a JSON object, without decoding the rest; nil without it.
    package func member(_ name: String) -> Data? {
        let bytes = [UInt8](self)
        let text = bytes.span.bytes
        var scanner = JSONScanner(isStrict: false)
        do throws(JSONScanner.Fault) {
            try scanner.expect("{", text)
            repeat {
                let key = try scanner.string(text)
                try scanner.expect(":", text)
                let start = scanner.position
                try scanner.skipValue(text)
                if key == name { return Data(bytes[start..<scanner.position]) }
            } while try scanner.continues(until: "}", text)
        } catch {}
        return nil
    }

    /// Returns the text of a member of a JSON object; nil without it.
    package func text(of name: String) -> String? {
        guard let member = member(name) else { return nil }
        var scanner = JSONScanner(isStrict: false)
        return try? scanner.string([UInt8](member).span.bytes)
    }
}

extension JSONEncoder {
    /// An encoder with sorted keys.
    package static var sorted: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}

extension Timestamp {
    /// The seconds for JSON, with at most three decimals.
    package var decimalSeconds: String {
        let milliseconds = (nanoseconds + 500_000) / 1_000_000
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)" : "\(Double(milliseconds) / 1000)"
    }
}

extension BeaconNotification.Kind {
    /// The priority of a notification when not all can be kept. No number of beacons, real or forged, displaces an
    /// enter or an exit.
    package var priority: Event.Priority {
        switch self {
        case .heartbeat: .latest
        case .proximity, .gone: .repeated
        case .place, .state, .receiver: .normal
        default: .essential
        }
    }
}
