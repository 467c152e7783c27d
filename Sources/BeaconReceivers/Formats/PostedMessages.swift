import BeaconModel
import BeaconRadio

// Gateways whose messages say themselves what they are, whatever their topic is, and whether they come from a broker or
// by HTTP:
// - MOKO: an object with "msg_id" 3004 or 3070 (barnowl-mokosmart, lib/mqttprotocoldecoder.js);
// - Minew: an array, whose first object is of the type "Gateway" (barnowl-minew, lib/minewdecoder.js);
// - Ruuvi: an object with "data", which is one (RuuviGateway.swift);
// - raddec: an object with "rssiSignature", or a list of them (Raddec.swift);
// - Ingics: lines $GPRP,TAG,GATEWAY,RSSI,ADVERT[,TIME] (Ingics, iGS01 message format; $RSPR is a scan response).

extension ReceiverNetwork {
    mutating func readPosted(
        _ message: Message, _ payload: RawSpan, _ deliver: (Reception, RawSpan) throws -> Void
    ) rethrows -> MessageFault? {
        guard payload.byteCount > 0 else { return MessageFault("a message", "it is empty") }
        if payload.unsafeLoad(fromByteOffset: 0, as: UInt8.self) == UInt8(ascii: "$") {
            return try readIngics(message, payload, deliver)
        }
        guard let value = payload.json else {
            return MessageFault("a message", "it is of no gateway that is known; write a \"mapping\" for it")
        }
        if Self.isRaddec(value, in: payload) { return try readRaddecs(value, message, payload, deliver) }
        if value.kind == .object, payload.member("msg_id", of: value) == nil,
            let data = payload.member("data", of: value), data.kind == .object
        {
            return try readRuuviPost(data, message, payload, deliver)
        }
        if value.kind == .array { return try readMinew(value, message, payload, deliver) }
        guard value.kind == .object, let number = payload.member("msg_id", of: value).flatMap({ payload.integer($0) })
        else {
            return MessageFault("a message", "it is of no gateway that is known; write a \"mapping\" for it")
        }
        return try readMOKO(number, value, message, payload, deliver)
    }

    // MARK: - MOKO

    private mutating func readMOKO(
        _ number: Int, _ object: JSONValue, _ message: Message, _ payload: RawSpan,
        _ deliver: (Reception, RawSpan) throws -> Void
    ) rethrows -> MessageFault? {
        guard let info = payload.member("device_info", of: object), let mac = payload.member("mac", of: info),
            let name = payload.string(mac, limit: Self.longestName)
        else { return MessageFault("a MOKO message", "it does not say which gateway it is of (\"device_info\")") }
        guard let receiver = place(of: name, .moko, message) else { return .tooManyReceivers }
        // 3003 is its network; others answer commands.
        guard number == 3004 || number == 3070, let data = payload.member("data", of: object) else {
            note(receiver, message)
            return nil
        }
        var fault: MessageFault?
        let isArray = try payload.forEachElement(of: data) { element in
            let report = number == 3004 ? payload.member("value", of: element) : element
            guard let report else { return true }
            fault = try readMOKOReport(report, receiver, message, payload, deliver) ?? fault
            return true
        }
        return isArray ? fault : MessageFault("a MOKO message", "its \"data\" is no list")
    }

    private mutating func readMOKOReport(
        _ report: JSONValue, _ receiver: Int, _ message: Message, _ payload: RawSpan,
        _ deliver: (Reception, RawSpan) throws -> Void
    ) rethrows -> MessageFault? {
        var rssi: Int?
        var address: DeviceAddress?
        var stamp: Timestamp?
        var bytes = AdvertBytes()
        var isHexadecimal = true
        payload.forEachMember(of: report) { key, value in
            if payload.equals(key, "rssi") {
                rssi = payload.integer(value)
            } else if payload.equals(key, "mac") {
                address = payload.address(value.range)
            } else if payload.equals(key, "timestamp") {
                stamp = payload.stamp(value)
            } else if payload.equals(key, "raw") || payload.equals(key, "raw data") || payload.equals(key, "adv_data")
                || payload.equals(key, "rsp_data")
            {
                isHexadecimal = bytes.append(hexadecimal: value.range, of: payload) && isHexadecimal
            }
            return true
        }
        guard let rssi, isHexadecimal else {
            return MessageFault("a MOKO report", "it has no \"rssi\", or its raw data are not hexadecimal")
        }
        guard bytes.count > 0 else {
            return MessageFault("a MOKO report", "it has no raw data; have the gateway upload them")
        }
        try bytes.withBytes {
            try hear(receiver, message, stamp: stamp, address: address, rssi: rssi, advert: $0, deliver)
        }
        return nil
    }

    // MARK: - Minew

    private mutating func readMinew(
        _ array: JSONValue, _ message: Message, _ payload: RawSpan, _ deliver: (Reception, RawSpan) throws -> Void
    ) rethrows -> MessageFault? {
        var receiver: Int?
        var fault: MessageFault?
        try payload.forEachElement(of: array) { element in
            if let type = payload.member("type", of: element), payload.equals(type, "Gateway") {
                let name = payload.member("mac", of: element).flatMap { payload.string($0, limit: Self.longestName) }
                receiver = name.flatMap { place(of: $0, .minew, message) }
                if receiver == nil { fault = .tooManyReceivers }
                return receiver != nil
            }
            guard let receiver else {
                fault = MessageFault("a list of adverts", "its first element does not name a gateway, as Minew's do")
                return false
            }
            fault = try readMinewAdvert(element, receiver, message, payload, deliver) ?? fault
            return true
        }
        return fault
    }

    private mutating func readMinewAdvert(
        _ advert: JSONValue, _ receiver: Int, _ message: Message, _ payload: RawSpan,
        _ deliver: (Reception, RawSpan) throws -> Void
    ) rethrows -> MessageFault? {
        var (rssi, major, minor, power): (Int?, Int?, Int?, Int?)
        var address: DeviceAddress?
        var uuid: ProximityUUID?
        var data: JSONValue?
        payload.forEachMember(of: advert) { key, value in
            if payload.equals(key, "rssi") {
                rssi = payload.integer(value)
            } else if payload.equals(key, "mac") {
                address = payload.address(value.range)
            } else if payload.equals(key, "rawData") {
                data = value
            } else if payload.equals(key, "ibeaconUuid") {
                uuid = payload.uuid(value.range)
            } else if payload.equals(key, "ibeaconMajor") {
                major = payload.integer(value)
            } else if payload.equals(key, "ibeaconMinor") {
                minor = payload.integer(value)
            } else if payload.equals(key, "ibeaconTxPower") {
                power = payload.integer(value)
            }
            return true
        }
        guard let rssi else { return MessageFault("a Minew advert", "it has no \"rssi\"") }
        if let data, data.kind == .string, !data.range.isEmpty {
            var bytes = AdvertBytes()
            guard bytes.append(hexadecimal: data.range, of: payload) else {
                return MessageFault("a Minew advert", "its \"rawData\" are not hexadecimal")
            }
            try bytes.withBytes { try hear(receiver, message, address: address, rssi: rssi, advert: $0, deliver) }
        } else if let uuid, let major = major.flatMap({ UInt16(exactly: $0) }),
            let minor = minor.flatMap({ UInt16(exactly: $0) })
        {
            let frame = IBeaconFrame(
                identity: BeaconIdentity(uuid: uuid, major: major, minor: minor),
                measuredPower: power.flatMap { Int8(exactly: $0) } ?? IBeaconFrame.defaultMeasuredPower)
            try hear(receiver, message, address: address, rssi: rssi, frame: frame, deliver)
        } else {
            noteOther(receiver, message)
        }
        return nil
    }

    // MARK: - Ingics

    private mutating func readIngics(
        _ message: Message, _ payload: RawSpan, _ deliver: (Reception, RawSpan) throws -> Void
    ) rethrows -> MessageFault? {
        var fault: MessageFault?
        var start = 0
        while start < payload.byteCount {
            var end = start
            var fields: [Range<Int>] = []
            var field = start
            while end < payload.byteCount {
                let byte = payload.unsafeLoad(fromByteOffset: end, as: UInt8.self)
                if byte == 0x0A || byte == 0x0D { break }
                if byte == UInt8(ascii: ","), fields.count < 6 {
                    fields.append(field..<end)
                    field = end + 1
                }
                end += 1
            }
            fields.append(field..<end)
            if end > start { fault = try readIngicsLine(fields, message, payload, deliver) ?? fault }
            start = end + 1
        }
        return fault
    }

    private mutating func readIngicsLine(
        _ fields: [Range<Int>], _ message: Message, _ payload: RawSpan,
        _ deliver: (Reception, RawSpan) throws -> Void
    ) rethrows -> MessageFault? {
        let kind = fields[0]
        // A heartbeat: $HBRP,GATEWAY,…
        if payload.equals(kind, "$HBRP"), fields.count > 1 {
            guard let receiver = place(of: payload.text(fields[1]), .ingics, message) else { return .tooManyReceivers }
            note(receiver, message)
            return nil
        }
        guard ["$GPRP", "$RSPR", "$1MAD", "$LRAD"].contains(payload.text(kind)), fields.count >= 5 else {
            return MessageFault("an Ingics line", "it has not the form $GPRP,TAG,GATEWAY,RSSI,ADVERT")
        }
        var bytes = AdvertBytes()
        guard let address = payload.address(fields[1]), let rssi = Int(payload.text(fields[3])),
            bytes.append(hexadecimal: fields[4], of: payload)
        else { return MessageFault("an Ingics line", "its address, signal strength or advert is none") }
        guard let receiver = place(of: payload.text(fields[2]), .ingics, message) else { return .tooManyReceivers }
        let stamp =
            fields.count > 5 ? payload.stamp(JSONValue(kind: .number, range: fields[5])) : nil
        try bytes.withBytes {
            try hear(receiver, message, stamp: stamp, address: address, rssi: rssi, advert: $0, deliver)
        }
        return nil
    }
}
