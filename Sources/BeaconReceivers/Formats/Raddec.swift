import BeaconModel
import BeaconRadio

// Radio decodings of reelyActive's software and compatible programs (raddec, README.md and lib/raddec.js): an object,
// or a list of objects, with "transmitterId", "transmitterIdType", "rssiSignature" (the receivers and their signal
// strengths), "packets" and "timestamp". A packet is one of the link layer: a header of two bytes, the address in six,
// and the AD structures (advlib-ble, lib/ble.js).

extension ReceiverNetwork {
    /// The bytes of a packet before its AD structures (Core Specification 5.3, Vol 6, Part B, 2.3).
    private static let packetHead = 8

    /// The most receivers and packets of a raddec. Each packet counts for each receiver. The library allows 15
    /// receivers.
    private static let (maximumOfRaddec, maximumPackets) = (32, 16)

    /// Returns true for a raddec, or a list of them.
    static func isRaddec(_ value: JSONToken, in payload: RawSpan) -> Bool {
        guard value.kind == .array else {
            return value.kind == .object && payload.member("rssiSignature", of: value) != nil
        }
        var isRaddec = false
        payload.forEachLeaf(of: value) { element in
            isRaddec = element.kind == .object && payload.member("rssiSignature", of: element) != nil
            return false
        }
        return isRaddec
    }

    mutating func readRaddecs(
        _ value: JSONToken, _ message: Message, _ payload: RawSpan, _ batch: inout AdvertBatch
    ) -> MessageFault? {
        guard value.kind == .array else { return readRaddec(value, message, payload, &batch) }
        var fault: MessageFault?
        payload.forEachLeaf(of: value) { element in
            fault = readRaddec(element, message, payload, &batch) ?? fault
            return true
        }
        return fault
    }

    private mutating func readRaddec(
        _ raddec: JSONToken, _ message: Message, _ payload: RawSpan, _ batch: inout AdvertBatch
    ) -> MessageFault? {
        let subject: StaticString = "a raddec"
        let signature = payload.member("rssiSignature", of: raddec)
        guard let signature, signature.kind == .array else {
            return MessageFault(
                subject, "it does not list its receivers (\"rssiSignature\")",
                reading: payload.excerpt((signature ?? raddec).range))
        }
        var advert = GatewayAdvert()
        advert.address = payload.member("transmitterId", of: raddec)
        // 2 is a public address, 3 a random one (raddec, lib/identifiers.js).
        let kind = payload.member("transmitterIdType", of: raddec)
        let kindNumber = kind.flatMap { payload.integer($0) }
        advert.addressKind = kindNumber == 2 ? .public : kindNumber == 3 ? .random : .unspecified
        advert.time = payload.member("timestamp", of: raddec)
        payload.forEachMember(of: raddec) { key, value in
            advert.beacon.take(key, value, in: payload)
            return true
        }
        var fault: MessageFault?
        var packets: [AdvertBytes] = []
        if let list = payload.member("packets", of: raddec), !payload.isNull(list) {
            let isList = payload.forEachElement(of: list) { packet in
                var bytes = AdvertBytes()
                if bytes.append(hexadecimal: packet.range, of: payload), bytes.removeFirst(Self.packetHead) {
                    packets.append(bytes)
                } else {
                    fault = MessageFault(
                        subject, "one of its packets is not hexadecimal, or too short or too long",
                        reading: payload.excerpt(packet.range))
                }
                return packets.count < Self.maximumPackets
            }
            if !isList {
                fault = MessageFault(subject, "its \"packets\" are not a list", reading: payload.excerpt(list.range))
            }
        }
        let decoded = advert.beacon.reading(in: payload)
        if packets.isEmpty, fault == nil, case .nothing = decoded {
            fault = MessageFault(
                subject, "it has no \"packets\", which contain the adverts; configure its sender to add them")
        }
        let frames = packets.compactMap(\.frame)
        var named: IBeaconFrame?
        if !packets.isEmpty, case .frame(let frame, _) = decoded {
            named = frame
            // Another packet may be the scan response.
            if !frames.contains(where: { frame.agrees(with: $0) }) {
                fault = MessageFault.contradiction(
                    subject, bytesHaveFrame: !frames.isEmpty, reading: raddec, in: payload)
            }
        }
        var receivers = 0
        let isList = payload.forEachElement(of: signature) { element in
            guard let name = payload.member("receiverId", of: element).flatMap({ payload.name($0) }) else {
                fault = MessageFault(
                    subject, "one of its receivers has no \"receiverId\"", reading: payload.excerpt(element.range))
                return true
            }
            guard let receiver = sender(name, .raddec, message) else {
                fault = refusal
                return true
            }
            receivers += 1
            if let kind, kindNumber == nil, !payload.isNull(kind) {
                note("its kind of address is not a number", kind, in: subject, payload, of: receiver)
            }
            advert.rssi = payload.member("rssi", of: element)
            guard advert.rssi != nil, !packets.isEmpty else {
                // A sign of life only, or an iBeacon that the sender has decoded.
                hear(advert, of: receiver, in: subject, message, payload, &batch)
                return receivers < Self.maximumOfRaddec
            }
            let reception = reception(of: advert, by: receiver, in: subject, payload)
            for packet in packets {
                packet.withBytes { hear(receiver, message, reception, $0, &batch) }
            }
            if let named, frames.isEmpty { hear(receiver, message, reception, named, &batch) }
            return receivers < Self.maximumOfRaddec
        }
        return isList ? fault : MessageFault(subject, "its \"rssiSignature\" is not a list")
    }
}
