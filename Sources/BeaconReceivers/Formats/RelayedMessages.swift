import BeaconModel
import BeaconRadio

// Messages of `beacon relay`: PREFIX/beacon-relay/NAME/heard in the format of ``RelayMessage``, and …/status, which
// includes the will message.

/// The state of a relay.
struct RelayMemory {
    /// The number of the relay's session; nil before its first message.
    var session: UInt32?
    /// The time, by the relay's clock, up to which all its adverts have arrived.
    var covered = Timestamp.zero
    var clock = SkewedClock()
    /// The indices of its receivers, and their names in its messages.
    var places: [Int] = []
    var names: [String] = []

    /// Returns the name for a topic level, in which % and two hexadecimal digits stand for a byte.
    static func name(ofLevel level: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(level.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2, let high = Hexadecimal.value(of: rest[rest.startIndex]),
                let low = Hexadecimal.value(of: rest[rest.startIndex + 1])
            {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension ReceiverNetwork {
    /// The level before a relay's name in its topics.
    package static let relayLevel = "beacon-relay"

    mutating func readRelay(
        _ name: String, _ message: Message, _ payload: RawSpan, _ batch: inout AdvertBatch
    ) -> MessageFault? {
        // A retained message may be of any age.
        guard !message.isRetained else { return nil }
        // A relay's silence counts only up to the end of its newest message (``NetworkReceiver/covered``).
        for place in relays[name]?.places ?? [] { signs.add(place) }
        let heard: RelayMessage
        do throws(MessageFault) {
            heard = try RelayMessage(payload)
        } catch {
            return error
        }
        guard !heard.receivers.isEmpty else { return nil }
        var relay = relays[name] ?? RelayMemory()
        guard registerReceivers(of: name, heard, &relay, message, &batch) else { return refusal }
        defer { relays[name] = relay }
        var isNew = relay.session != heard.session
        // After a restart the relay's clock may differ.
        if isNew { (relay.session, relay.clock) = (heard.session, SkewedClock()) }
        let settings = relay.clock.settings
        // If all messages are behind, the newest time was wrong, and not these.
        if !isNew, heard.to <= relay.covered, !relay.clock.isSet(to: heard.to, at: message.arrival) {
            duplicates += 1
            return relay.clock.delay(of: heard.to, arrivedAt: message.arrival) > SkewedClock.maximumDelay
                ? .lateRelay : nil
        }
        let end = relay.clock.time(of: heard.to, arrivedAt: message.arrival)
        guard let end, relay.clock.delay(of: heard.to, arrivedAt: message.arrival) >= -SkewedClock.maximumDelay else {
            // Its content is lost. The next message reports this gap.
            lateAdverts += heard.sightings.count
            for place in relay.places { signs.add(place, isLate: true) }
            return end == nil ? .lateRelay : .earlyRelay
        }
        isNew = isNew || relay.clock.settings != settings
        let offset = end.since(heard.to)
        for place in relay.places {
            // A gap between two messages was lost. If the relay's clock may differ, ours determines the gap.
            reportDeafness(
                of: place, from: isNew ? receivers[place].lastKnown : relay.covered.advanced(by: offset),
                to: min(heard.from.advanced(by: offset), message.arrival), &batch)
        }
        relay.covered = heard.to
        for stretch in heard.deafness {
            for (index, place) in relay.places.enumerated() where stretch.receiver ?? index == index {
                reportDeafness(
                    of: place, from: stretch.from.advanced(by: offset),
                    to: min(stretch.to.advanced(by: offset), message.arrival), &batch)
            }
        }
        for (place, receiver) in zip(relay.places, heard.receivers) {
            receivers[place].noteCoverage(upTo: end, at: message.arrival)
            var status = receiver.status
            let heard = status.isDoubtful ? min(end, status.heardUntil.advanced(by: offset)) : end
            status.heardUntil = max(heard, receivers[place].reported?.heardUntil ?? .zero)
            receivers[place].reported = status
        }
        counts.reports += heard.sightings.count
        for var sighting in heard.sightings {
            let place = relay.places[Int(sighting.receiver.index)]
            receivers[place].adverts += 1
            sighting.receiver = ReceiverID(UInt16(place))
            sighting.time = min(message.arrival, sighting.time.advanced(by: offset))
            hear(sighting, &batch)
        }
        return nil
    }

    /// Finds the indices of a relay's receivers, and adds new ones. Receivers that the relay no longer has are off.
    ///
    /// - Returns: false if a receiver gets no place. In that case nothing changes.
    private mutating func registerReceivers(
        of name: String, _ heard: RelayMessage, _ relay: inout RelayMemory, _ message: Message,
        _ batch: inout AdvertBatch
    ) -> Bool {
        guard !relay.names.elementsEqual(heard.receivers.lazy.map(\.name)) else { return true }
        let names = heard.receivers.map(\.name)
        guard hasPlaces(for: name, .relay, inners: names, at: message.arrival) else { return false }
        let old = relay.places
        relay.places = names.compactMap { place(of: name, .relay, inner: $0, message) }
        relay.names = names
        let isOnline = earlyStatus(of: name, .relay)
        for place in relay.places where !old.contains(place) {
            receivers[place].isOnline = receivers[place].isOnline ?? isOnline
        }
        for place in old where !relay.places.contains(place) {
            reportDeafness(of: place, at: message.arrival, &batch)
            receivers[place].reported = ReceiverStatus(.poweredOff)
            receivers[place].isOnline = false
        }
        return true
    }

    /// Notes the connection status that a relay, or the broker's will message for it, reports.
    mutating func noteRelayStatus(
        of name: String, _ payload: RawSpan, _ message: Message, _ batch: inout AdvertBatch
    ) -> MessageFault? {
        guard let isOnline = Self.isOnline(payload) else { return .noStatus }
        noteEarlyStatus(of: name, .relay, isOnline: isOnline, at: message.arrival)
        // A relay that has sent nothing yet may have any number of receivers.
        guard let relay = relays[name] else { return nil }
        for inner in relay.names {
            if let fault = noteStatus(of: name, .relay, inner: inner, payload, message, &batch) { return fault }
        }
        return nil
    }
}

extension MessageFault {
    static let lateRelay = MessageFault(
        "a relay's message", "it arrived more than 15 s late; the connection to the broker may be too slow")

    static let earlyRelay = MessageFault(
        "a relay's message",
        "its time is more than 15 s ahead of the relay's others; check whether another program publishes in its name")
}
