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
                    case 3 where payload.equals(key.range, "mac"): advert.address = value
                    case 4 where payload.equals(key.range, "rssi"): advert.rssi = value
                    default: advert.beacon.take(key, value, in: payload)
                    }
                    return true
                })
        else {
            return MessageFault(
                "an ESPresense message", "it is not a JSON object", reading: payload.excerpt(0..<payload.byteCount))
        }
        guard let id else { return MessageFault("an ESPresense message", "it has no \"id\"") }
        // Ids of other devices are words.
        let isBeacon = payload.matches(id.range.prefix(8), "iBeacon:")
        if id.kind != .string || isBeacon && advert.beacon.identity(id, in: payload) == nil {
            note(
                "its id is not an iBeacon's, which is iBeacon:UUID-MAJOR-MINOR", id, in: "an ESPresense message",
                payload, of: receiver)
        }
        if isBeacon { advert.beacon.uuid = id }
        hear(advert, of: receiver, in: "an ESPresense message", message, payload, &batch)
        return nil
    }
}
