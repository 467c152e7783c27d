import BeaconModel
import BeaconSupport

// The receivers and their places. Any client that may write to a broker can make up names. So receivers that the user
// named always get a place. Of the others, a new receiver replaces the least used one that is silent.

extension ReceiverNetwork {
    /// The identity of a receiver in messages.
    struct Key: Hashable {
        var kind: NetworkReceiver.Kind
        /// The name, including topic levels before it for some kinds.
        var name: String
        /// The name of one of several receivers that share this name; empty if there is only one.
        var inner = ""

        /// The name without topic levels. A Shelly's name is the whole prefix.
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

    /// Returns the index of the receiver that a message names, and notes a sign of its life. Returns nil if the
    /// receiver gets no place; ``refusal`` has the reason.
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

    /// Returns the index of a receiver, and adds new receivers. Returns nil if the receiver gets no place; ``refusal``
    /// has the reason.
    ///
    /// - Parameter inner: the name of one of several receivers that share the name; empty if there is only one.
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
        receiver.isOnline = earlyStatuses.removeValue(forKey: key)?.isOnline
        receiver.awaitsSign = message.isRetained
        receiver.isDoubtful = message.isRetained
        places[key] = place
        unseenNames.remove(shown)
        if place == receivers.count {
            receivers.append(receiver)
            names.append(shown)
            keys.append(key)
        } else {
            (receivers[place], names[place], keys[place]) = (receiver, shown, key)
        }
        return place
    }

    /// Returns a unique name of a receiver for people.
    private func shownName(of key: Key) -> String {
        let own = key.inner.isEmpty ? "" : "/" + key.inner
        let name =
            settings.names[key.name + own] ?? settings.names[key.lastLevel + own] ?? (key.lastLevel + own).printable
        guard names.contains(name) else { return name }
        let longer = "\(name) (\(key.kind.rawValue))"
        guard names.contains(longer) else { return longer }
        // A receiver that was replaced may have freed the number of another one.
        return (2...).lazy.map { "\(longer) \($0)" }.first { !names.contains($0) } ?? longer
    }

    // MARK: - Places

    /// The number of places reserved for receivers that the user named: at most half. The names may belong to other
    /// sources.
    private var heldPlaces: Int { min(unseenNames.count, settings.maximumReceivers / 2) }

    /// Returns the index for a new receiver: a free one, or that of a receiver that it replaces.
    private mutating func newPlace(for name: String, at time: Timestamp) -> Int? {
        let isReserved = reservedNames.contains(name)
        if receivers.count + (isReserved ? 0 : heldPlaces) < settings.maximumReceivers { return receivers.count }
        crowd.note(name, at: time)
        let others = receivers.indices.filter { canMakeWay($0, at: time, isUrgent: isReserved) }
        let leastUsed = others.min { one, other in
            let (one, other) = (receivers[one], receivers[other])
            return (one.use(at: time), one.lastMessage) < (other.use(at: time), other.lastMessage)
        }
        if let leastUsed { forget(leastUsed) }
        return leastUsed
    }

    /// Returns true if a new receiver may replace this one.
    ///
    /// - Parameter isUrgent: true if the new receiver has a reserved place, so that it need not wait for a silence.
    private func canMakeWay(_ place: Int, at time: Timestamp, isUrgent: Bool) -> Bool {
        // ESPHome devices have a connection, so their names are not made up.
        guard receivers[place].kind != .esphome, !receivers[place].isInUse, !reservedNames.contains(names[place])
        else { return false }
        return isUrgent || receivers[place].canMakeWay(at: time)
    }

    /// Removes a receiver that another one replaces.
    private mutating func forget(_ place: Int) {
        places[keys[place]] = nil
        unreadable.forget(place)
        // The relay's other receivers start again with its next message.
        for (name, relay) in relays where relay.places.contains(place) { relays[name] = nil }
    }

    /// Returns true if there are places for all receivers that share a name, without adding any.
    mutating func hasPlaces(
        for name: String, _ kind: NetworkReceiver.Kind, inners: [String], at time: Timestamp
    ) -> Bool {
        let keys = inners.map { Key(kind: kind, name: name, inner: $0) }
        // They must not replace one another.
        for place in keys.compactMap({ places[$0] }) { receivers[place].isInUse = true }
        let new = keys.filter { places[$0] == nil }
        guard !new.isEmpty else { return true }
        guard !new.contains(where: \.isBad) else {
            refusal = .badName
            return false
        }
        let isReserved = new.allSatisfy { reservedNames.contains(shownName(of: $0)) }
        let free = settings.maximumReceivers - receivers.count - (isReserved ? 0 : heldPlaces)
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

    // MARK: - Early statuses

    /// Notes the status of a name whose receivers are not known yet.
    mutating func noteEarlyStatus(of name: String, _ kind: NetworkReceiver.Kind, isOnline: Bool, at time: Timestamp) {
        let key = Key(kind: kind, name: name)
        guard !key.isBad else { return }
        if earlyStatuses.count >= settings.maximumReceivers, earlyStatuses[key] == nil,
            let oldest = earlyStatuses.min(by: { ($0.value.rank, $0.value.time) < ($1.value.rank, $1.value.time) })?.key
        {
            earlyStatuses[oldest] = nil
        }
        let rank = earlyStatuses[key]?.rank ?? (reservedNames.contains(shownName(of: key)) ? 1 : 0)
        earlyStatuses[key] = (isOnline, time, rank)
    }

    /// Returns the status of a name whose receivers are not known yet.
    func earlyStatus(of name: String, _ kind: NetworkReceiver.Kind) -> Bool? {
        earlyStatuses[Key(kind: kind, name: name)]?.isOnline
    }
}

extension MessageFault {
    static let badName = MessageFault(
        "a message", "the name of its receiver is empty, or longer than 64 bytes")

    static let noPlace = MessageFault("a message", "there is no free place for its receiver")
}
