import BeaconModel
import BeaconRadio

// ESPresense: espresense/devices/ID/NODE, an object for each report, up to a few a second (ESPresense,
// src/BleFingerprint.cpp, fill). An iBeacon's id is iBeacon:UUID-MAJOR-MINOR. The signal strength is smoothed.

extension ReceiverNetwork {
    mutating func readESPresense(
        _ node: String, _ message: Message, _ payload: RawSpan, _ batch: inout AdvertBatch
    ) -> MessageFault? {
        guard let receiver = sender(node, .espresense, message) else { return refusal }
        var advert = GatewayAdvert()
        var id: JSONToken?
        guard let object = payload.json,
            payload.forEachMember(
                of: object,
                { key, value in
                    switch key.range.count {
                    case 2 where payload.equals(key.range, "id"): id = value
                    case 3 where payload.equals(key.range, "mac"): advert.address = payload.address(value.range)
                    case 4 where payload.equals(key.range, "rssi"): advert.rssi = payload.reading(value)
                    default: advert.beacon.take(key, value, in: payload)
                    }
                    return true
                })
        else {
            return MessageFault(
                "an ESPresense message", "it is not a JSON object", reading: payload.excerpt(0..<payload.byteCount))
        }
        guard let id else { return MessageFault("an ESPresense message", "it has no \"id\"") }
        advert.beacon.identity = Self.identity(id, payload)
        return hear(advert, of: receiver, in: "an ESPresense message", message, payload, &batch)
    }

    /// Returns the identity of `iBeacon:UUID-MAJOR-MINOR`; nil for other ids.
    private static func identity(_ id: JSONToken, _ payload: RawSpan) -> BeaconIdentity? {
        let (start, end) = (id.range.lowerBound, id.range.upperBound)
        guard id.kind == .string, id.range.count >= 48, id.range.count <= 56,
            payload.equals(start..<start + 8, "iBeacon:"), let uuid = payload.uuid(start + 8..<start + 44),
            payload.equals(start + 44..<start + 45, "-")
        else { return nil }
        let numbers = payload.text(start + 45..<end).split(separator: "-", omittingEmptySubsequences: false)
        guard numbers.count == 2, let major = UInt16(numbers[0]), let minor = UInt16(numbers[1]) else { return nil }
        return BeaconIdentity(uuid: uuid, major: major, minor: minor)
    }
}
