import BeaconModel
import BeaconRadio

// OpenMQTTGateway on an ESP32, and Theengs Gateway on a computer: HOME/GATEWAY/BTtoMQTT/ADDRESS, an object for each
// advert (OpenMQTTGateway, docs/use/ble.md; Theengs Gateway, ble_gateway.py). iBeacons are decoded already. Other
// adverts may have their manufacturer data.

extension ReceiverNetwork {
    mutating func readOpenMQTTGateway(
        _ gateway: String, _ message: Message, _ payload: RawSpan, _ batch: inout AdvertBatch
    ) -> MessageFault? {
        guard let receiver = sender(gateway, .openMQTTGateway, message) else { return refusal }
        var advert = GatewayAdvert()
        var (id, mac, company): (JSONToken?, JSONToken?, JSONToken?)
        var kind = DeviceAddress.Kind.unspecified
        guard let object = payload.json,
            payload.forEachMember(
                of: object,
                { key, value in
                    // Compare each key's length first: there are some twenty keys, most of them of sensors.
                    switch key.range.count {
                    case 2 where payload.equals(key.range, "id"): id = value
                    case 3 where payload.equals(key.range, "mac"): mac = value
                    case 4 where payload.equals(key.range, "rssi"): advert.rssi = payload.reading(value)
                    case 4 where payload.equals(key.range, "mfid"): company = value
                    case 8 where payload.equals(key.range, "mac_type"):
                        kind =
                            payload.integer(value).flatMap { UInt8(exactly: $0) }.flatMap(DeviceAddress.Kind.init)
                            ?? .unspecified
                    case 16 where payload.equals(key.range, "manufacturerdata"): advert.data = value
                    default: advert.beacon.take(key, value, in: payload)
                    }
                    return true
                })
        else {
            return MessageFault(
                "an OpenMQTTGateway message", "it is not a JSON object",
                reading: payload.excerpt(0..<payload.byteCount))
        }
        // A response to a command, or a sensor that was read over a connection.
        guard advert.rssi != nil else { return nil }
        // With presenceUseBeaconUuid, id is the UUID and mac is the address.
        advert.address = (mac ?? id).flatMap { payload.address($0.range, kind: kind) }
        advert.isManufacturerData = true
        // A beacon of another company is not an iBeacon.
        if let company, !payload.matches(company.range, "4c00") { advert.beacon = DecodedBeacon() }
        return hear(advert, of: receiver, in: "an OpenMQTTGateway message", message, payload, &batch)
    }
}
