import BeaconModel
import BeaconRadio

// Gateways whose messages can be recognized by their content, at any topic, and from a broker or by HTTP:
// - MOKO: an object with "msg_id" 3004 or 3070 (barnowl-mokosmart, lib/mqttprotocoldecoder.js);
// - Minew: an array whose first object is of the type "Gateway" (barnowl-minew, lib/minewdecoder.js);
// - Ruuvi: an object with an object at "data" (RuuviGateway.swift);
// - raddec: an object with "rssiSignature", or a list of them (Raddec.swift);
// - Ingics: lines that begin with "$", as plain text or in JSON (Ingics.swift).

extension ReceiverNetwork {
    mutating func readPosted(
        _ message: Message, _ payload: RawSpan, _ batch: inout AdvertBatch
    ) -> MessageFault? {
        guard payload.byteCount > 0 else { return MessageFault("a message", "it is empty") }
        if payload.unsafeLoad(fromByteOffset: 0, as: UInt8.self) == UInt8(ascii: "$") {
            return readIngics(message, payload, &batch)
        }
        guard let value = payload.json else { return .foreign(payload) }
        if Self.isRaddec(value, in: payload) { return readRaddecs(value, message, payload, &batch) }
        if let number = payload.member("msg_id", of: value).flatMap({ payload.integer($0) }) {
            return readMOKO(number, value, message, payload, &batch)
        }
        if let data = payload.member("data", of: value), data.kind == .object {
            return readRuuviPost(data, message, payload, &batch)
        }
        let lines = Self.ingicsLines(of: value, in: payload)
        if !lines.isEmpty { return readIngics(lines, message, payload, &batch) }
        if value.kind == .array { return readMinew(value, message, payload, &batch) }
        return .foreign(payload)
    }

    // MARK: - MOKO

    private mutating func readMOKO(
        _ number: Int, _ object: JSONToken, _ message: Message, _ payload: RawSpan,
        _ batch: inout AdvertBatch
    ) -> MessageFault? {
        let info = payload.member("device_info", of: object)
        guard let name = info.flatMap({ payload.member("mac", of: $0) }).flatMap({ payload.name($0) }) else {
            return MessageFault(
                "a MOKO message", "it does not name its gateway (\"device_info\")",
                reading: payload.excerpt((info ?? object).range))
        }
        guard let receiver = sender(name, .moko, message) else { return refusal }
        // 3003 is the network status; other numbers answer commands.
        guard number == 3004 || number == 3070, let data = payload.member("data", of: object) else { return nil }
        // Some gateways use 3004 for a report about themselves.
        if number == 3004, data.kind == .object { return nil }
        let isArray = payload.forEachLeaf(of: data) { element in
            let report = number == 3004 ? payload.member("value", of: element) : element
            readMOKOReport(report ?? element, receiver, message, payload, &batch)
            return true
        }
        return isArray
            ? nil : MessageFault("a MOKO message", "its \"data\" is not a list", reading: payload.excerpt(data.range))
    }

    private mutating func readMOKOReport(
        _ report: JSONToken, _ receiver: Int, _ message: Message, _ payload: RawSpan,
        _ batch: inout AdvertBatch
    ) {
        var advert = GatewayAdvert()
        var kind: JSONToken?
        let isObject = payload.forEachMember(of: report) { key, value in
            if payload.equals(key, "rssi") {
                advert.rssi = value
            } else if payload.equals(key, "mac") {
                advert.address = value
            } else if payload.equals(key, "timestamp") {
                advert.time = value
            } else if payload.equals(key, "type") {
                kind = value
            } else if payload.equals(key, "raw") || payload.equals(key, "raw data") || payload.equals(key, "adv_data") {
                advert.data = value
            } else if payload.equals(key, "rsp_data") {
                advert.scanResponse = value
            } else {
                advert.beacon.take(key, value, in: payload)
            }
            return true
        }
        // A report without a known type could be an iBeacon.
        let isOther = kind.map {
            $0.kind == .string && !payload.equals($0, "other") && !payload.matches($0.range, "ibeacon")
        }
        let absence: StaticString =
            "it has neither raw data nor a UUID, major and minor value; have the gateway upload them"
        guard isObject else { return note(.noObject("a MOKO report", report, in: payload), of: receiver) }
        hear(
            advert, of: receiver, in: "a MOKO report", lacking: isOther == true ? nil : absence, message, payload,
            &batch)
    }

    // MARK: - Minew

    private mutating func readMinew(
        _ array: JSONToken, _ message: Message, _ payload: RawSpan, _ batch: inout AdvertBatch
    ) -> MessageFault? {
        var receiver: Int?
        var fault: MessageFault?
        payload.forEachLeaf(of: array) { element in
            if let type = payload.member("type", of: element), payload.equals(type, "Gateway") {
                guard let name = payload.member("mac", of: element).flatMap({ payload.name($0) }) else {
                    fault = MessageFault(
                        "a Minew message", "its gateway has no \"mac\"", reading: payload.excerpt(element.range))
                    return false
                }
                receiver = sender(name, .minew, message)
                if receiver == nil { fault = refusal }
                return receiver != nil
            }
            guard let receiver else {
                fault = MessageFault(
                    "a list of adverts",
                    "its first element does not name a gateway, as Minew's do; for another format, write a \"mapping\"",
                    reading: payload.excerpt(element.range))
                return false
            }
            readMinewAdvert(element, receiver, message, payload, &batch)
            return true
        }
        return fault
    }

    private mutating func readMinewAdvert(
        _ element: JSONToken, _ receiver: Int, _ message: Message, _ payload: RawSpan,
        _ batch: inout AdvertBatch
    ) {
        var advert = GatewayAdvert()
        let isObject = payload.forEachMember(of: element) { key, value in
            if payload.equals(key, "rssi") {
                advert.rssi = value
            } else if payload.equals(key, "mac") {
                advert.address = value
            } else if payload.equals(key, "rawData") {
                advert.data = value
            } else {
                advert.beacon.take(key, value, in: payload)
            }
            return true
        }
        guard isObject else { return note(.noObject("a Minew advert", element, in: payload), of: receiver) }
        hear(advert, of: receiver, in: "a Minew advert", message, payload, &batch)
    }
}

extension MessageFault {
    /// Returns the fault of a value that should be an object.
    static func noObject(_ subject: StaticString, _ value: JSONToken, in payload: RawSpan) -> MessageFault {
        MessageFault(subject, "it is not a JSON object", reading: payload.excerpt(value.range))
    }

    /// Returns the fault of a message that matches no format.
    static func foreign(_ payload: RawSpan) -> MessageFault {
        MessageFault(
            "a message", "its format is unknown; write a \"mapping\" for it",
            reading: payload.excerpt(0..<payload.byteCount))
    }
}
