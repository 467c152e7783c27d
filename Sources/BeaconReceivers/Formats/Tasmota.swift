import BeaconModel
import BeaconRadio

// Tasmota with its iBeacon driver: tele/DEVICE/SENSOR, or DEVICE/tele/SENSOR, an object with "IBEACON" for each beacon,
// every ten seconds (Tasmota, xsns_52_ibeacon.ino, ibeacon_mqtt). A beacon that it no longer hears has the signal
// strength 0, and on an ESP32 the state "OFF".

extension ReceiverNetwork {
    mutating func readTasmota(
        _ device: String, _ message: Message, _ payload: RawSpan, _ batch: inout AdvertBatch
    ) -> MessageFault? {
        guard let object = payload.json else {
            return MessageFault(
                "a Tasmota message", "it is not a JSON object", reading: payload.excerpt(0..<payload.byteCount))
        }
        // A lamp or a thermometer sends other objects.
        guard let beacon = payload.member("IBEACON", of: object) else { return nil }
        guard let receiver = sender(device, .tasmota, message) else { return refusal }
        var advert = GatewayAdvert()
        advert.beacon.isHexadecimal = true
        var isGone = false
        let isRead = payload.forEachMember(of: beacon) { key, value in
            switch key.range.count {
            case 3 where payload.equals(key, "MAC"): advert.address = payload.address(value.range)
            case 4 where payload.equals(key, "RSSI"): advert.rssi = payload.reading(value)
            case 5 where payload.equals(key, "STATE"): isGone = payload.says(value, isOn: false)
            default: advert.beacon.take(key, value, in: payload)
            }
            return true
        }
        guard isRead else { return MessageFault("a Tasmota message", "its \"IBEACON\" is not a JSON object") }
        guard !isGone, advert.rssi != 0 else { return nil }
        return hear(advert, of: receiver, in: "a Tasmota message", message, payload, &batch)
    }
}

extension RawSpan {
    /// Returns true if a value means on, or off.
    func says(_ value: JSONToken, isOn: Bool) -> Bool {
        let words = isOn ? ["on", "online", "true", "1"] : ["off", "offline", "false", "0"]
        return value.range.count <= 8 && words.contains(text(value.range).lowercased())
    }
}
