import BeaconModel
import BeaconRadio

// Messages of other gateways, as a mapping describes them.

extension ReceiverNetwork {
    mutating func readMapped(
        _ topic: RawSpan, _ message: Message, _ payload: RawSpan, _ deliver: (Reception, RawSpan) throws -> Void
    ) rethrows -> MessageFault? {
        guard let mapping = settings.mapping else { return nil }
        guard let root = payload.json else { return MessageFault("a mapped message", "it is no JSON") }
        // Once for all adverts: a list may be long.
        var around = Around()
        switch mapping.receiver {
        case .fixed(let name): around.name = name
        case .level(let number): around.name = Self.level(number, of: topic)
        case .path(let path):
            around.name = path.value(in: payload, from: root).flatMap { payload.string($0, limit: Self.longestName) }
        }
        around.stamp = mapping.time.flatMap { $0.value(in: payload, from: root) }.flatMap { payload.stamp($0) }
        guard let each = mapping.each else {
            return try readMappedAdvert(root, mapping, around, message, payload, deliver)
        }
        guard let list = each.value(in: payload, from: root), list.kind == .array else {
            return MessageFault("a mapped message", "there is no list at the mapping's \"each\"")
        }
        var fault: MessageFault?
        try payload.forEachElement(of: list) { element in
            fault = try readMappedAdvert(element, mapping, around, message, payload, deliver) ?? fault
            return true
        }
        return fault
    }

    /// What the message around an advert says of it.
    private struct Around {
        var name: String?
        var stamp: Timestamp?
    }

    private mutating func readMappedAdvert(
        _ element: JSONValue, _ mapping: ReceiverMapping, _ around: Around, _ message: Message, _ payload: RawSpan,
        _ deliver: (Reception, RawSpan) throws -> Void
    ) rethrows -> MessageFault? {
        var name = around.name
        if case .path(let path) = mapping.receiver, let own = path.value(in: payload, from: element) {
            name = payload.string(own, limit: Self.longestName)
        }
        guard let name else {
            return MessageFault("a mapped message", "there is no name at the mapping's \"receiver\"")
        }
        guard let receiver = place(of: name, .mapped, message) else { return .tooManyReceivers }
        guard let rssi = mapping.rssi.value(in: payload, from: element).flatMap({ payload.integer($0) }) else {
            return MessageFault("a mapped message", "there is no number at the mapping's \"rssi\"")
        }
        guard let data = mapping.data.value(in: payload, from: element), data.kind == .string else {
            return MessageFault("a mapped message", "there is no text at the mapping's \"data\"")
        }
        var bytes = AdvertBytes()
        let isRead =
            switch mapping.encoding {
            case .hexadecimal: bytes.append(hexadecimal: data.range, of: payload)
            case .base64: bytes.append(base64: data.range, of: payload)
            }
        guard isRead else {
            return MessageFault(
                "a mapped message", "what is at the mapping's \"data\" is not written as \"encoding\" says")
        }
        let address = mapping.address.flatMap { $0.value(in: payload, from: element) }.flatMap {
            payload.address($0.range)
        }
        let stamp = mapping.time.flatMap { $0.value(in: payload, from: element) }.flatMap { payload.stamp($0) }
        try bytes.withBytes {
            try hear(receiver, message, stamp: stamp ?? around.stamp, address: address, rssi: rssi, advert: $0, deliver)
        }
        return nil
    }

    private static func level(_ number: Int, of topic: RawSpan) -> String? {
        let levels = topic.text(0..<topic.byteCount).split(separator: "/", omittingEmptySubsequences: false)
        return levels.indices.contains(number - 1) ? String(levels[number - 1]) : nil
    }
}
