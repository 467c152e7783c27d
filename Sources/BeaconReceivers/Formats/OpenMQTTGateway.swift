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
        let subject: StaticString = "an OpenMQTTGateway message"
        var (id, mac, kind, company): (JSONToken?, JSONToken?, JSONToken?, JSONToken?)
        guard let object = payload.json,
            payload.forEachMember(
                of: object,
                { key, value in
                    // Compare each key's length first: there are some twenty keys, most of them of sensors.
                    switch key.range.count {
                    case 2 where payload.equals(key.range, "id"): id = value
                    case 3 where payload.equals(key.range, "mac"): mac = value
                    case 4 where payload.equals(key.range, "rssi"): advert.rssi = value
                    case 4 where payload.equals(key.range, "mfid"): company = value
                    case 8 where payload.equals(key.range, "mac_type"): kind = value
                    case 16 where payload.equals(key.range, "manufacturerdata"): advert.data = value
                    default: advert.beacon.take(key, value, in: payload)
                    }
                    return true
                })
        else {
            return MessageFault(subject, "it is not a JSON object", reading: payload.excerpt(0..<payload.byteCount))
        }
        // A response to a command, or a sensor that was read over a connection.
        guard advert.rssi != nil else { return nil }
        // With presenceUseBeaconUuid, and where the system hides addresses, id is a UUID.
        advert.address = mac ?? id.flatMap { payload.uuid($0.range) == nil ? $0 : nil }
        if let kind, !payload.isNull(kind) {
            let known = payload.integer(kind).flatMap { UInt8(exactly: $0) }.flatMap(DeviceAddress.Kind.init)
            if known == nil { note("its kind of address is unknown", kind, in: subject, payload, of: receiver) }
            advert.addressKind = known ?? .unspecified
        }
        advert.isManufacturerData = true
        if let company, !payload.isNull(company), !payload.matches(company.range, "4c00") {
            if company.kind == .string, company.range.count == 4 {
                // A beacon of another company is not an iBeacon.
                advert.beacon = DecodedBeacon()
            } else {
                note("its company does not have four digits", company, in: subject, payload, of: receiver)
            }
        }
        hear(advert, of: receiver, in: subject, message, payload, &batch)
        return nil
    }
}
