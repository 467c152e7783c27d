package import BeaconModel
package import BeaconRadio

// The connection statuses that receivers, or their broker, report. A status is not a sign of life: a broker may send
// the status of a dead receiver.

extension ReceiverNetwork {
    /// Notes the connection status that a receiver, or the broker's will message for it, reports.
    mutating func noteStatus(
        of name: String, _ kind: NetworkReceiver.Kind, inner: String = "", _ payload: RawSpan, _ message: Message,
        _ batch: inout AdvertBatch
    ) -> MessageFault? {
        guard let isOnline = Self.isOnline(payload) else {
            return .noStatus
        }
        let key = Key(kind: kind, name: name, inner: inner)
        // ESPresense and Ruuvi gateways are always receivers. Devices of other kinds may be lamps, for example.
        let isKnown = places[key] != nil || kind == .espresense || kind == .ruuvi
        guard isKnown else {
            noteEarlyStatus(of: name, kind, isOnline: isOnline, at: message.arrival)
            return nil
        }
        guard let place = place(of: name, kind, inner: inner, message) else { return refusal }
        // It was away from some time after its last message on, even if it is online again now.
        let isChange = isOnline ? !message.isRetained : receivers[place].isOnline != false
        if isChange { reportDeafness(of: place, at: message.arrival, &batch) }
        if isOnline, !message.isRetained {
            receivers[place].begin(at: message.arrival)
            // A relay starts to hear after it is online, and reports that separately.
            if kind == .relay { receivers[place].awaitsSign = true }
            receivers[place].isDoubtful = kind == .relay
        }
        receivers[place].isOnline = isOnline
        return nil
    }

    func reportDeafness(of place: Int, at time: Timestamp, _ batch: inout AdvertBatch) {
        reportDeafness(of: place, from: receivers[place].lastKnown, to: time, &batch)
    }

    /// Reports a time for which a receiver may have been deaf.
    package func reportDeafness(
        of place: Int, from: Timestamp, to: Timestamp, _ batch: inout AdvertBatch
    ) {
        guard from < to else { return }
        batch.report(.deaf(from: from, to: to, receiver: ReceiverID(UInt16(place))))
    }

    /// Returns the status in a message, a word or a member of an object; nil if it has none.
    static func isOnline(_ payload: RawSpan) -> Bool? {
        for (word, isOnline) in [("online", true), ("offline", false), ("true", true), ("false", false)] {
            if payload.text(0..<min(payload.byteCount, 16)).lowercased() == word { return isOnline }
        }
        guard let object = payload.json else { return nil }
        var found: Bool?
        payload.forEachMember(of: object) { key, value in
            guard payload.equals(key, "state") || payload.equals(key, "status") || payload.equals(key, "online") else {
                return true
            }
            switch payload.text(value.range.count <= 16 ? value.range : 0..<0).lowercased() {
            case "online", "true": found = true
            case "offline", "false": found = false
            default: break
            }
            return found == nil
        }
        return found
    }
}

extension MessageFault {
    static let noStatus = MessageFault("a receiver's status", "it is neither online nor offline")
}
