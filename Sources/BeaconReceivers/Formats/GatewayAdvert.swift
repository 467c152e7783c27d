import BeaconModel
import BeaconRadio

/// An advert in a gateway's message: its bytes, an iBeacon's fields, or both, with its signal strength and time.
///
/// It holds the values as the gateway wrote them. One function reads them for all formats, so that every format reports
/// a value that cannot be read.
struct GatewayAdvert {
    var rssi: JSONToken?
    var address: JSONToken?
    var addressKind = DeviceAddress.Kind.unspecified
    /// The address, if it is not a value in the message.
    var device: DeviceAddress?
    /// The time at which the gateway heard it, by the gateway's clock.
    var time: JSONToken?
    /// The bytes of the advert, and those of its scan response.
    var data: JSONToken?
    var scanResponse: JSONToken?
    var encoding = ReceiverMapping.Encoding.hexadecimal
    /// True if the bytes are manufacturer data only.
    var isManufacturerData = false
    var beacon = DecodedBeacon()

    /// The values that each sighting of an advert needs.
    struct Reception {
        var rssi = Int(SignalStrength.unavailable.rawValue)
        var address: DeviceAddress?
        var stamp: Timestamp?
    }

    /// True if it has bytes.
    var hasBytes: Bool { Self.isText(data) || Self.isText(scanResponse) }

    private static func isText(_ value: JSONToken?) -> Bool {
        guard let value else { return false }
        return value.kind == .string && !value.range.isEmpty
    }

    /// Reads the bytes.
    ///
    /// - Throws: the text that cannot be read.
    func bytes(in text: RawSpan) throws(Unreadable) -> AdvertBytes {
        var bytes = AdvertBytes()
        try append(data, of: text, to: &bytes)
        try append(scanResponse, of: text, to: &bytes)
        if isManufacturerData || bytes.lacksHead, !bytes.makeManufacturerData() {
            throw Unreadable(excerpt: text.excerpt(data?.range ?? 0..<0))
        }
        return bytes
    }

    private func append(_ value: JSONToken?, of text: RawSpan, to bytes: inout AdvertBytes) throws(Unreadable) {
        guard let value, value.kind == .string else { return }
        let isRead =
            switch encoding {
            case .hexadecimal: bytes.append(hexadecimal: value.range, of: text)
            case .base64: bytes.append(base64: value.range, of: text)
            }
        guard isRead else { throw Unreadable(excerpt: text.excerpt(value.range)) }
    }

    struct Unreadable: Error {
        var excerpt: String
    }
}

extension ReceiverNetwork {
    /// Delivers an advert of a gateway's message, and notes its faults.
    ///
    /// The bytes take precedence over decoded fields, since the beacon sent them. If the fields name another
    /// beacon, the bytes are used, and the message is counted as a fault.
    ///
    /// - Parameters:
    ///   - receiver: the receiver's index.
    ///   - subject: the kind of message, for people.
    ///   - absence: the problem of an advert without bytes and fields; nil if other devices' adverts have neither.
    mutating func hear(
        _ advert: GatewayAdvert, of receiver: Int, in subject: StaticString, lacking absence: StaticString? = nil,
        _ message: Message, _ payload: RawSpan, _ batch: inout AdvertBatch
    ) {
        let fault = deliver(advert, of: receiver, in: subject, lacking: absence, message, payload, &batch)
        if let fault { note(fault, of: receiver) }
    }

    private mutating func deliver(
        _ advert: GatewayAdvert, of receiver: Int, in subject: StaticString, lacking absence: StaticString?,
        _ message: Message, _ payload: RawSpan, _ batch: inout AdvertBatch
    ) -> MessageFault? {
        guard advert.rssi != nil else {
            return MessageFault(subject, "it has no signal strength, which should be a number at \"rssi\"")
        }
        let reception = reception(of: advert, by: receiver, in: subject, payload)
        let noText = [advert.data, advert.scanResponse].compactMap(\.self).first {
            $0.kind != .string && !payload.isNull($0)
        }
        if let noText { note("its advert is not a text", noText, in: subject, payload, of: receiver) }
        let decoded = advert.beacon.reading(in: payload)
        if case .frame(_, let power?) = decoded {
            note(
                "its measured power is not a number from -127 to 0, so it counts as unknown", power, in: subject,
                payload, of: receiver)
        }
        guard advert.hasBytes else {
            switch decoded {
            case .nothing:
                if let absence, noText == nil { return MessageFault(subject, absence) }
                hearOther(receiver, message, reception, &batch)
            case .frame(let frame, _):
                receivers[receiver].hasSentBeacon = true
                hear(receiver, message, reception, frame, &batch)
            case .unreadable(let value, let problem):
                return MessageFault(subject, problem, reading: value.map { payload.excerpt($0.range) })
            }
            return nil
        }
        let bytes: AdvertBytes
        do throws(GatewayAdvert.Unreadable) {
            bytes = try advert.bytes(in: payload)
        } catch {
            if case .frame(let frame, _) = decoded { hear(receiver, message, reception, frame, &batch) }
            return MessageFault(
                subject,
                advert.encoding == .base64
                    ? "its advert is not base64, or longer than 256 bytes"
                    : "its advert is not hexadecimal, or longer than 256 bytes",
                reading: error.excerpt)
        }
        guard case .frame(let frame, _) = decoded else {
            bytes.withBytes { hear(receiver, message, reception, $0, &batch) }
            return settings.mapping == nil ? nil : foreignBytes(bytes, advert.data, of: receiver, in: payload)
        }
        guard let sent = bytes.frame else {
            hear(receiver, message, reception, frame, &batch)
            return .contradiction(subject, bytesHaveFrame: false, reading: advert.data, in: payload)
        }
        bytes.withBytes { hear(receiver, message, reception, $0, &batch) }
        return frame.agrees(with: sent)
            ? nil : .contradiction(subject, bytesHaveFrame: true, reading: advert.data, in: payload)
    }

    /// Reads an advert's signal strength, address and time. A value that cannot be read is a fault of the receiver, and
    /// the advert counts without it.
    mutating func reception(
        of advert: GatewayAdvert, by receiver: Int, in subject: StaticString, _ payload: RawSpan
    ) -> GatewayAdvert.Reception {
        var reception = GatewayAdvert.Reception(address: advert.device)
        // A gateway without a reading writes null, or HCI's 127; the beacon was heard anyway.
        if let value = advert.rssi, !payload.isNull(value) {
            let number = payload.integer(value) ?? .max
            // Some gateways write the byte as unsigned.
            reception.rssi = (128...255).contains(number) ? number - 256 : number
            if let problem = Self.problem(ofSignal: reception.rssi) {
                note(problem, value, in: subject, payload, of: receiver)
            }
        }
        if let value = advert.address, !payload.isNull(value) {
            reception.address = payload.address(value.range, kind: advert.addressKind)
            if reception.address == nil {
                note(
                    "its address does not have six bytes; it counts as none", value, in: subject, payload, of: receiver)
            }
        }
        if let value = advert.time, !payload.isNull(value) {
            let time = payload.secondsSince1970(value).flatMap(Timestamp.init(seconds:))
            // A clock before the year 2000 was never set, so its times are of no use.
            reception.stamp = time.flatMap { $0.seconds >= 946_684_800 ? $0 : nil }
            if time == nil { note(Self.noTime, value, in: subject, payload, of: receiver) }
        }
        return reception
    }

    static let noTime: StaticString =
        "its time is neither a number since 1970 nor a date such as 2026-11-27T19:00:00Z, so the advert counts as current"

    /// Returns the problem of a signal strength; nil if it is a reading in dBm, or a value for "no reading".
    static func problem(ofSignal rssi: Int) -> StaticString? {
        switch rssi {
        case -128...0, 127: nil
        case 1...126: "its signal is positive, so the advert counts only for presence; the sign may be missing"
        default: "its signal is not a number from -127 to 0 dBm, so the advert counts only for presence"
        }
    }
}

extension IBeaconFrame {
    /// Returns true if this frame, from a gateway's fields, matches the one that was sent. Its power may be missing.
    func agrees(with sent: IBeaconFrame) -> Bool {
        identity == sent.identity
            && (measuredPower == sent.measuredPower || measuredPower == Self.unavailableMeasuredPower)
    }
}

extension MessageFault {
    /// Returns the fault of fields that contradict the raw data.
    ///
    /// - Parameters:
    ///   - bytesHaveFrame: true if the raw data contain an iBeacon. That one is used.
    ///   - value: the raw data. The fault shows them if they contain no iBeacon.
    static func contradiction(
        _ subject: StaticString, bytesHaveFrame: Bool, reading value: JSONToken?, in text: RawSpan
    ) -> MessageFault {
        guard !bytesHaveFrame else {
            return MessageFault(
                subject, "its fields differ from the iBeacon in its raw data; the raw data are used", isUsed: true)
        }
        return MessageFault(
            subject, "its fields name an iBeacon, but its raw data contain none; the fields are used",
            reading: value.map { text.excerpt($0.range) }, isUsed: true)
    }
}
