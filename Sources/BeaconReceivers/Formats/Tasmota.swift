import BeaconModel
import BeaconRadio

// Tasmota with its iBeacon driver: tele/DEVICE/SENSOR, or DEVICE/tele/SENSOR, an object with "IBEACON" for each beacon,
// every ten seconds (Tasmota, xsns_52_ibeacon.ino, ibeacon_mqtt). A beacon that it no longer hears has the signal
// strength 0, and on an ESP32 the state "OFF".

extension ReceiverNetwork {
    mutating func readTasmota(
        _ device: String, _ message: Message, _ payload: RawSpan, _ batch: inout AdvertBatch
    ) -> MessageFault? {
        let subject: StaticString = "a Tasmota message"
        guard let object = payload.json else {
            return MessageFault(
                subject, "it is not a JSON object", reading: payload.excerpt(0..<payload.byteCount))
        }
        // A lamp or a thermometer sends other objects.
        guard let beacon = payload.member("IBEACON", of: object) else { return nil }
        guard let receiver = sender(device, .tasmota, message) else { return refusal }
        var advert = GatewayAdvert()
        advert.beacon.isHexadecimal = true
        var state: JSONToken?
        let isRead = payload.forEachMember(of: beacon) { key, value in
            switch key.range.count {
            case 3 where payload.equals(key, "MAC"): advert.address = value
            case 4 where payload.equals(key, "RSSI"): advert.rssi = value
            case 5 where payload.equals(key, "STATE"): state = value
            default: advert.beacon.take(key, value, in: payload)
            }
            return true
        }
        guard isRead else {
            return MessageFault(
                subject, "its \"IBEACON\" is not a JSON object", reading: payload.excerpt(beacon.range))
        }
        guard isPresent(state, in: subject, payload, of: receiver), advert.rssi.flatMap({ payload.integer($0) }) != 0
        else { return nil }
        hear(advert, of: receiver, in: subject, message, payload, &batch)
        return nil
    }

    /// Returns false if the state of a beacon is off. A state that cannot be read is a fault of the receiver.
    mutating func isPresent(
        _ state: JSONToken?, in subject: StaticString, _ payload: RawSpan, of receiver: Int
    ) -> Bool {
        guard let state, !payload.isNull(state) else { return true }
        let word = payload.text(state.range.prefix(8)).lowercased()
        guard !["off", "offline", "false", "0"].contains(word) else { return false }
        if !["on", "online", "true", "1"].contains(word) {
            note(
                "its state is neither on nor off, so the beacon counts as present", state, in: subject, payload,
                of: receiver)
        }
        return true
    }
}
