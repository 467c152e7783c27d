import BeaconModel
import BeaconRadio

// Shelly devices of the second generation and later, with the script that Home Assistant installs: PREFIX/events/rpc, a
// notification with events "ble.scan_result" (aioshelly, ble/const.py and ble/parser.py). Version 1 has one advert,
// [1,ADDRESS,RSSI,ADVERT,SCANRESPONSE]; version 2 has a list of them, [2,[[ADDRESS,RSSI,ADVERT,SCANRESPONSE],…]].

extension ReceiverNetwork {
    mutating func readShelly(
        _ prefix: String, _ message: Message, _ payload: RawSpan, _ batch: inout AdvertBatch
    ) -> MessageFault? {
        noteSign(of: prefix, .shelly)
        guard let object = payload.json, object.kind == .object else {
            return MessageFault(
                "a Shelly notification", "it is not a JSON object", reading: payload.excerpt(0..<payload.byteCount))
        }
        // A lamp or a plug sends other notifications, too.
        guard let parameters = payload.member("params", of: object),
            let events = payload.member("events", of: parameters)
        else { return nil }
        var fault: MessageFault?
        payload.forEachElement(of: events) { event in
            guard let name = payload.member("event", of: event), payload.equals(name, "ble.scan_result"),
                let data = payload.member("data", of: event)
            else { return true }
            guard let receiver = sender(prefix, .shelly, message) else {
                fault = refusal
                return false
            }
            var version: Int?
            var parts: [JSONToken] = []
            payload.forEachElement(of: data) { part in
                guard version != nil else {
                    version = payload.integer(part)
                    return true
                }
                if version == 1 {
                    parts.append(part)
                    return parts.count < 4
                }
                payload.forEachElement(of: part) { advert in
                    var fields: [JSONToken] = []
                    payload.forEachElement(of: advert) {
                        fields.append($0)
                        return fields.count < 4
                    }
                    fault = readShellyAdvert(fields, receiver, message, payload, &batch) ?? fault
                    return true
                }
                return true
            }
            if version == 1 {
                fault = readShellyAdvert(parts, receiver, message, payload, &batch) ?? fault
            } else if version != 2 {
                fault = MessageFault(
                    "a Shelly scan result", "its version is unknown; supported are 1 and 2 of Home Assistant's script",
                    reading: payload.excerpt(data.range))
            }
            return true
        }
        return fault
    }

    private mutating func readShellyAdvert(
        _ fields: [JSONToken], _ receiver: Int, _ message: Message, _ payload: RawSpan,
        _ batch: inout AdvertBatch
    ) -> MessageFault? {
        guard fields.count >= 3 else {
            return MessageFault(
                "a Shelly scan result", "it does not have the form [address, rssi, advert, scan response]",
                reading: fields.first.map { payload.excerpt($0.range) })
        }
        var advert = GatewayAdvert()
        (advert.rssi, advert.address, advert.encoding) = (fields[1], fields[0], .base64)
        (advert.data, advert.scanResponse) = (fields[2], fields.count > 3 ? fields[3] : nil)
        hear(advert, of: receiver, in: "a Shelly scan result", message, payload, &batch)
        return nil
    }
}
