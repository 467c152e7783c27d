import BeaconModel
import BeaconRadio

// Messages of other gateways, read with a mapping.

extension ReceiverNetwork {
    private static let mappedMessage: StaticString = "a mapped message"

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
            return MessageFault(Self.mappedMessage, "it is not JSON", reading: payload.excerpt(0..<payload.byteCount))
        }
        guard root.kind == .array, (mapping.each ?? mapping.rssi).value(in: payload, from: root) == nil else {
            return readMapped(root, mapping, around, message, payload, &batch)
        }
        // A list of messages, each with its own list or advert.
        var fault: MessageFault?
        payload.forEachLeaf(of: root) { part in
            fault = readMapped(part, mapping, around, message, payload, &batch) ?? fault
            return true
        }
        return fault
    }

    /// The values that a message has once for all its adverts.
    private struct Around {
        var name: String?
        var receiver: JSONToken?
        var time: JSONToken?
    }

    private mutating func readMapped(
        _ root: JSONToken, _ mapping: ReceiverMapping, _ around: Around, _ message: Message, _ payload: RawSpan,
        _ batch: inout AdvertBatch
    ) -> MessageFault? {
        guard let each = mapping.each else {
            return readMappedAdvert(root, mapping, around, message, payload, &batch)
        }
        var around = around
        if case .path(let path) = mapping.receiver {
            around.receiver = path.value(in: payload, from: root)
            around.name = around.receiver.flatMap { payload.name($0) }
        }
        around.time = mapping.time.flatMap { $0.value(in: payload, from: root) }
        // An empty list is a sign of its receiver's life, too.
        if let name = around.name, sender(name, .mapped, message) == nil { return refusal }
        let list = each.value(in: payload, from: root)
        guard let list, list.kind == .array else {
            return MessageFault(
                Self.mappedMessage, "there is no list at the mapping's \"each\"",
                reading: payload.excerpt((list ?? root).range))
        }
        var fault: MessageFault?
        // Lists in a list are one list, unless an advert is a list.
        payload.forEachLeaf(of: list, depth: mapping.rssi.beginsWithIndex ? 1 : 4) { element in
            fault = readMappedAdvert(element, mapping, around, message, payload, &batch) ?? fault
            return true
        }
        return fault
    }

    private mutating func readMappedAdvert(
        _ element: JSONToken, _ mapping: ReceiverMapping, _ around: Around, _ message: Message, _ payload: RawSpan,
        _ batch: inout AdvertBatch
    ) -> MessageFault? {
        func value(_ path: JSONPath?) -> JSONToken? { path.flatMap { $0.value(in: payload, from: element) } }

        let subject = Self.mappedMessage
        var (name, token) = (around.name, around.receiver ?? element)
        if case .path(let path) = mapping.receiver, let own = value(path) { (name, token) = (payload.name(own), own) }
        guard let name else {
            return MessageFault(
                subject, "there is no name of up to 64 bytes at the mapping's \"receiver\"",
                reading: payload.excerpt(token.range))
        }
        guard let receiver = sender(name, .mapped, message) else { return refusal }
        guard isPresent(value(mapping.state), in: subject, payload, of: receiver) else { return nil }
        var advert = GatewayAdvert()
        advert.rssi = value(mapping.rssi)
        advert.data = value(mapping.data)
        advert.encoding = mapping.encoding
        advert.address = value(mapping.address)
        advert.time = value(mapping.time) ?? around.time
        advert.beacon.isHexadecimal = mapping.numbers == .hexadecimal
        advert.beacon.uuid = value(mapping.uuid)
        advert.beacon.major = value(mapping.major)
        advert.beacon.minor = value(mapping.minor)
        advert.beacon.power = value(mapping.power)
        guard advert.rssi != nil else {
            return MessageFault(
                subject, "there is no number at the mapping's \"rssi\"", reading: payload.excerpt(element.range))
        }
        hear(
            advert, of: receiver, in: subject,
            lacking: "there is neither a text at the mapping's \"data\" nor an iBeacon at \"uuid\"", message, payload,
            &batch)
        return nil
    }

    /// Returns the fault of bytes that contain no iBeacon. Bytes of other devices are a fault only if the receiver has
    /// sent no iBeacon yet: the mapping's path may be wrong.
    mutating func foreignBytes(
        _ bytes: AdvertBytes, _ data: JSONToken?, of receiver: Int, in payload: RawSpan
    ) -> MessageFault? {
        guard bytes.count > 0, bytes.frame == nil else {
            receivers[receiver].hasSentBeacon = true
            return nil
        }
        let isAdvert = bytes.isAdvert
        guard !isAdvert || !receivers[receiver].hasSentBeacon else { return nil }
        return MessageFault(
            Self.mappedMessage,
            isAdvert
                ? "the bytes at the mapping's \"data\" are not an iBeacon's, and the receiver has sent no iBeacon yet"
                : "the bytes at the mapping's \"data\" are not an advert, which has AD structures such as 0201061aff4c00",
            reading: data.map { payload.excerpt($0.range) })
    }

    private static func level(_ number: Int, of topic: RawSpan) -> String? {
        let levels = topic.text(0..<topic.byteCount).split(separator: "/", omittingEmptySubsequences: false)
        return levels.indices.contains(number - 1) ? String(levels[number - 1]) : nil
    }
}
