import BeaconModel
import BeaconRadio

// OpenMQTTGateway on an ESP32, and Theengs Gateway on a computer: HOME/GATEWAY/BTtoMQTT/ADDRESS, an object for each
// advert (OpenMQTTGateway, docs/use/ble.md; Theengs Gateway, ble_gateway.py). An iBeacon is decoded already; other
// adverts may come with their manufacturer data.

extension ReceiverNetwork {
    mutating func readOpenMQTTGateway(
        _ gateway: String, _ message: Message, _ payload: RawSpan, _ deliver: (Reception, RawSpan) throws -> Void
    ) rethrows -> MessageFault? {
        guard let receiver = place(of: gateway, .openMQTTGateway, message) else { return .tooManyReceivers }
        var (rssi, major, minor, power): (Int?, Int?, Int?, Int?)
        var (id, mac, uuid, data): (JSONValue?, JSONValue?, JSONValue?, JSONValue?)
        var kind = DeviceAddress.Kind.unspecified
        var isBeacon = false
        guard let object = payload.json,
            payload.forEachMember(
                of: object,
                { key, value in
                    // Each key by its length first: there are some twenty, most of them of sensors.
                    switch key.range.count {
                    case 2 where payload.equals(key.range, "id"): id = value
                    case 3 where payload.equals(key.range, "mac"): mac = value
                    case 4 where payload.equals(key.range, "rssi"): rssi = payload.integer(value)
                    case 4 where payload.equals(key.range, "uuid"): uuid = value
                    case 4 where payload.equals(key.range, "mfid"): isBeacon = payload.equals(value, "4c00")
                    case 5 where payload.equals(key.range, "major"): major = payload.integer(value)
                    case 5 where payload.equals(key.range, "minor"): minor = payload.integer(value)
                    case 7 where payload.equals(key.range, "txpower"): power = payload.integer(value)
                    case 8 where payload.equals(key.range, "mac_type"):
                        kind =
                            payload.integer(value).flatMap { UInt8(exactly: $0) }.flatMap(DeviceAddress.Kind.init)
                            ?? .unspecified
                    case 16 where payload.equals(key.range, "manufacturerdata"): data = value
                    default: break
                    }
                    return true
                })
        else { return MessageFault("an OpenMQTTGateway message", "it is no JSON object") }
        // An answer to a command, or a sensor that was read over a connection.
        guard let rssi else {
            note(receiver, message)
            return nil
        }
        // With presenceUseBeaconUuid, id is the UUID and mac the address.
        let address = (mac ?? id).flatMap { payload.address($0.range, kind: kind) }
        if let data, data.kind == .string {
            var bytes = AdvertBytes()
            guard bytes.append(manufacturerData: data.range, of: payload) else {
                return MessageFault("an OpenMQTTGateway message", "its \"manufacturerdata\" is not hexadecimal")
            }
            try bytes.withBytes {
                try hear(receiver, message, address: address, rssi: rssi, advert: $0, deliver)
            }
            return nil
        }
        guard isBeacon, let uuid, let major, let minor else {
            noteOther(receiver, message)
            return nil
        }
        guard let uuid = payload.uuid(uuid.range), let major = UInt16(exactly: major),
            let minor = UInt16(exactly: minor)
        else { return MessageFault("an OpenMQTTGateway message", "its \"uuid\", \"major\" or \"minor\" is none") }
        let frame = IBeaconFrame(
            identity: BeaconIdentity(uuid: uuid, major: major, minor: minor),
            measuredPower: power.flatMap { Int8(exactly: $0) } ?? IBeaconFrame.defaultMeasuredPower)
        try hear(receiver, message, address: address, rssi: rssi, frame: frame, deliver)
        return nil
    }
}
