import BeaconModel
import BeaconSupport

// The receivers and their places. Any client that may write to a broker can invent names. So receivers that the user
// has named always get a place. Of the others, the least used one makes way for a new one, if it is silent.

extension ReceiverNetwork {
    /// A receiver as its messages name it.
    struct Key: Hashable {
        var kind: NetworkReceiver.Kind
        /// The name, with the topic's levels before it where its kind has such.
        var name: String
        /// The name of one of several receivers that have this name; empty where there is one.
        var inner = ""

        /// The name alone. Shelly's is the whole prefix.
        var lastLevel: String {
            switch kind {
            case .openMQTTGateway, .espresense, .tasmota: lastPart
            case .relay: RelayMemory.name(ofLevel: lastPart)
            default: name
            }
        }

        private var lastPart: String {
            String(name.split(separator: "/", omittingEmptySubsequences: false).last ?? "")
        }

        /// True if the name is empty or too long.
        var isBad: Bool {
            let own = lastLevel
            return own.isEmpty || own.utf8.count > longestName || inner.utf8.count > longestName
                || name.utf8.count > longestKey
        }
    }

    /// Returns the place of the receiver that a message names, which is a sign of its life. It is nil if the receiver
    /// gets no place; ``refusal`` has the reason.
    mutating func sender(_ name: String, _ kind: NetworkReceiver.Kind, _ message: Message) -> Int? {
        guard let place = place(of: name, kind, message) else { return nil }
        signs.add(place)
        return place
    }

    /// Notes a sign of life of a receiver, if it is known.
    mutating func noteSign(of name: String, _ kind: NetworkReceiver.Kind) {
        guard let place = places[Key(kind: kind, name: name)] else { return }
        receivers[place].isInUse = true
        signs.add(place)
    }

    /// Returns the place of a receiver, which is added if it is new. It is nil if the receiver gets no place;
    /// ``refusal`` has the reason.
    ///
    /// - Parameter inner: the name of one of several receivers that have the name; empty where there is one.
    mutating func place(
        of name: String, _ kind: NetworkReceiver.Kind, inner: String = "", _ message: Message
    ) -> Int? {
        let key = Key(kind: kind, name: name, inner: inner)
        if let place = places[key] {
            receivers[place].isInUse = true
            return place
        }
        guard !key.isBad else {
            refusal = .badName
            return nil
        }
        let shown = shownName(of: key)
        guard let place = newPlace(for: shown, at: message.arrival) else {
            refusal = .noPlace
            return nil
        }
        var receiver = NetworkReceiver(shown, kind, at: message.arrival)
        receiver.isOnline = said.removeValue(forKey: key)?.isOnline
        receiver.awaitsSign = message.isRetained
        receiver.isDoubtful = message.isRetained
        places[key] = place
        unmetNames.remove(shown)
        if place == receivers.count {
            receivers.append(receiver)
            names.append(shown)
            keys.append(key)
        } else {
            (receivers[place], names[place], keys[place]) = (receiver, shown, key)
        }
        return place
    }

    /// Returns the name of a receiver for people, which no other has.
    private func shownName(of key: Key) -> String {
        let own = key.inner.isEmpty ? "" : "/" + key.inner
        let name =
            settings.names[key.name + own] ?? settings.names[key.lastLevel + own] ?? (key.lastLevel + own).printable
        guard names.contains(name) else { return name }
        let longer = "\(name) (\(key.kind.rawValue))"
        guard names.contains(longer) else { return longer }
        // A receiver that made way may have left the number of another one free.
        return (2...).lazy.map { "\(longer) \($0)" }.first { !names.contains($0) } ?? longer
    }

    // MARK: - Places

    /// The number of places that are kept free for receivers that the user has named: at most half. The names may be of
    /// other sources.
    private var heldPlaces: Int { min(unmetNames.count, settings.mostReceivers / 2) }

    /// Returns a place for a new receiver: a free one, or that of another one, which makes way.
    private mutating func newPlace(for name: String, at time: Timestamp) -> Int? {
        let isReserved = reservedNames.contains(name)
        if receivers.count + (isReserved ? 0 : heldPlaces) < settings.mostReceivers { return receivers.count }
        crowd.note(name, at: time)
        let others = receivers.indices.filter { canMakeWay($0, at: time, isUrgent: isReserved) }
        let leastUsed = others.min { one, other in
            let (one, other) = (receivers[one], receivers[other])
            return (one.use(at: time), one.lastMessage) < (other.use(at: time), other.lastMessage)
        }
        if let leastUsed { forget(leastUsed) }
        return leastUsed
    }

    /// Returns true where a receiver may make way for a new one.
    ///
    /// - Parameter isUrgent: true where the new one is reserved a place, so that it need not wait for a silence.
    private func canMakeWay(_ place: Int, at time: Timestamp, isUrgent: Bool) -> Bool {
        // Devices of ESPHome have a connection, so their names are not invented.
        guard receivers[place].kind != .esphome, !receivers[place].isInUse, !reservedNames.contains(names[place])
        else { return false }
        return isUrgent || receivers[place].canMakeWay(at: time)
    }

    /// Forgets a receiver whose place another one gets.
    private mutating func forget(_ place: Int) {
        places[keys[place]] = nil
        unreadable.forget(place)
        // What its other receivers hear begins again with its next message.
        for (name, relay) in relays where relay.places.contains(place) { relays[name] = nil }
    }

    /// Returns whether there are places for receivers of a name, without adding any.
    mutating func hasPlaces(
        for name: String, _ kind: NetworkReceiver.Kind, inners: [String], at time: Timestamp
    ) -> Bool {
        let keys = inners.map { Key(kind: kind, name: name, inner: $0) }
        // They do not make way for one another.
        for place in keys.compactMap({ places[$0] }) { receivers[place].isInUse = true }
        let new = keys.filter { places[$0] == nil }
        guard !new.isEmpty else { return true }
        guard !new.contains(where: \.isBad) else {
            refusal = .badName
            return false
        }
        let isReserved = new.allSatisfy { reservedNames.contains(shownName(of: $0)) }
        let free = settings.mostReceivers - receivers.count - (isReserved ? 0 : heldPlaces)
        guard new.count > free else { return true }
        guard
            new.count <= max(free, 0)
                + receivers.indices.count(where: { canMakeWay($0, at: time, isUrgent: isReserved) })
        else {
            crowd.note(name, at: time)
            refusal = .noPlace
            return false
        }
        return true
    }

    // MARK: - What was said before

    /// Notes what was said of a name whose receivers are not known yet.
    mutating func noteSaid(of name: String, _ kind: NetworkReceiver.Kind, isOnline: Bool, at time: Timestamp) {
        let key = Key(kind: kind, name: name)
        guard !key.isBad else { return }
        if said.count >= settings.mostReceivers, said[key] == nil,
            let oldest = said.min(by: { $0.value.time < $1.value.time })?.key
        {
            said[oldest] = nil
        }
        said[key] = (isOnline, time)
    }

    /// Returns what was said of a name.
    func said(of name: String, _ kind: NetworkReceiver.Kind) -> Bool? { said[Key(kind: kind, name: name)]?.isOnline }
}

extension MessageFault {
    static let badName = MessageFault(
        "a message", "the name of its receiver is empty, or longer than 64 bytes")

    static let noPlace = MessageFault("a message", "there is no place for its receiver")
}
