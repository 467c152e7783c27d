import BeaconModel
import BeaconRadio

// Messages of other gateways, read with a mapping.

extension ReceiverNetwork {
    mutating func readMapped(
        _ topic: RawSpan, _ message: Message, _ payload: RawSpan, _ batch: inout AdvertBatch
    ) -> MessageFault? {
        guard let mapping = settings.mapping else { return nil }
        // Read once for all adverts: a list may be long.
        var around = Around()
        switch mapping.receiver {
        case .fixed(let name): around.name = name
        case .level(let number): around.name = Self.level(number, of: topic)
        case .path: break
        }
        if let name = around.name { noteSign(of: name, .mapped) }
        guard let root = payload.json else {
            return MessageFault("a mapped message", "it is not JSON", reading: payload.excerpt(0..<payload.byteCount))
        }
        if case .path(let path) = mapping.receiver {
            around.name = path.value(in: payload, from: root).flatMap { payload.string($0, limit: Self.longestName) }
        }
        around.stamp = mapping.time.flatMap { $0.value(in: payload, from: root) }.flatMap { payload.stamp($0) }
        guard let each = mapping.each else {
            return readMappedAdvert(root, mapping, around, message, payload, &batch)
        }
        // An empty list is a sign of its receiver's life, too.
        if let name = around.name, sender(name, .mapped, message) == nil { return refusal }
        guard let list = each.value(in: payload, from: root), list.kind == .array else {
            return MessageFault(
                "a mapped message", "there is no list at the mapping's \"each\"",
                reading: payload.excerpt(0..<payload.byteCount))
        }
        var fault: MessageFault?
        payload.forEachElement(of: list) { element in
            fault = readMappedAdvert(element, mapping, around, message, payload, &batch) ?? fault
            return true
        }
        return fault
    }

    /// The values that a message has once for all its adverts.
    private struct Around {
        var name: String?
        var stamp: Timestamp?
    }

    private mutating func readMappedAdvert(
        _ element: JSONToken, _ mapping: ReceiverMapping, _ around: Around, _ message: Message, _ payload: RawSpan,
        _ batch: inout AdvertBatch
    ) -> MessageFault? {
        func value(_ path: JSONPath?) -> JSONToken? { path.flatMap { $0.value(in: payload, from: element) } }

        var name = around.name
        if case .path(let path) = mapping.receiver, let own = value(path) {
            name = payload.string(own, limit: Self.longestName)
        }
        guard let name else {
            return MessageFault(
                "a mapped message", "there is no name at the mapping's \"receiver\"",
                reading: payload.excerpt(element.range))
        }
        guard let receiver = sender(name, .mapped, message) else { return refusal }
        if let state = value(mapping.state), payload.says(state, isOn: false) { return nil }
        var advert = GatewayAdvert()
        advert.rssi = value(mapping.rssi).flatMap { payload.reading($0) }
        advert.data = value(mapping.data)
        advert.encoding = mapping.encoding
        advert.address = value(mapping.address).flatMap { payload.address($0.range) }
        advert.stamp = value(mapping.time).flatMap { payload.stamp($0) } ?? around.stamp
        advert.beacon.isHexadecimal = mapping.numbers == .hexadecimal
        advert.beacon.uuid = value(mapping.uuid)
        advert.beacon.major = value(mapping.major)
        advert.beacon.minor = value(mapping.minor)
        advert.beacon.power = value(mapping.power)
        guard advert.rssi != nil else {
            return MessageFault(
                "a mapped message", "there is no number at the mapping's \"rssi\"",
                reading: payload.excerpt(element.range))
        }
        guard advert.hasBytes || advert.beacon.isGiven else {
            return MessageFault(
                "a mapped message",
                "there is neither a text at the mapping's \"data\" nor an iBeacon at \"uuid\", \"major\" and \"minor\"",
                reading: payload.excerpt(element.range))
        }
        let fault = hear(advert, of: receiver, in: "a mapped message", message, payload, &batch)
        return fault ?? foreignBytes(advert, of: receiver, in: payload)
    }

    /// Returns the fault of bytes that contain no iBeacon. Bytes of other devices are a fault only if the receiver has
    /// sent no iBeacon yet: the mapping's path may be wrong.
    private mutating func foreignBytes(
        _ advert: GatewayAdvert, of receiver: Int, in payload: RawSpan
    ) -> MessageFault? {
        guard let data = advert.data, let bytes = try? advert.bytes(in: payload), bytes.count > 0, bytes.frame == nil
        else {
            receivers[receiver].hasSentBeacon = true
            return nil
        }
        guard bytes.isAdvert else {
            return MessageFault(
                "a mapped message",
                "the bytes at the mapping's \"data\" are not an advert, which has AD structures such as 0201061aff4c00",
                reading: payload.excerpt(data.range))
        }
        guard !receivers[receiver].hasSentBeacon else { return nil }
        return MessageFault(
            "a mapped message",
            "the bytes at the mapping's \"data\" are not an iBeacon's, and the receiver has sent no iBeacon yet",
            reading: payload.excerpt(data.range))
    }

    private static func level(_ number: Int, of topic: RawSpan) -> String? {
        let levels = topic.text(0..<topic.byteCount).split(separator: "/", omittingEmptySubsequences: false)
        return levels.indices.contains(number - 1) ? String(levels[number - 1]) : nil
    }
}
