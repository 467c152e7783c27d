import BeaconModel
import BeaconRadio

/// An advert in a gateway's message: its bytes, an iBeacon's fields, or both, with its signal strength and time.
struct GatewayAdvert {
    var rssi: Int?
    var address: DeviceAddress?
    /// The time at which the gateway heard it, by the gateway's clock.
    var stamp: Timestamp?
    /// The bytes of the advert, and those of its scan response.
    var data: JSONToken?
    var scanResponse: JSONToken?
    var encoding = ReceiverMapping.Encoding.hexadecimal
    /// True if the bytes are manufacturer data only.
    var isManufacturerData = false
    var beacon = DecodedBeacon()

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
    /// Delivers an advert of a gateway's message.
    ///
    /// The bytes take precedence over decoded fields, since the beacon sent them. If the fields name another
    /// beacon, the bytes are used, and the message is counted as a fault.
    ///
    /// - Parameters:
    ///   - receiver: the receiver's index.
    ///   - subject: the kind of message, for people.
    mutating func hear(
        _ advert: GatewayAdvert, of receiver: Int, in subject: StaticString, _ message: Message, _ payload: RawSpan,
        _ batch: inout AdvertBatch
    ) -> MessageFault? {
        guard let rssi = advert.rssi else {
            return MessageFault(subject, "it has no signal strength, which should be a number at \"rssi\"")
        }
        let decoded = advert.beacon.reading(in: payload)
        guard advert.hasBytes else {
            return hear(decoded, advert, rssi, of: receiver, in: subject, message, payload, &batch)
        }
        let bytes: AdvertBytes
        do throws(GatewayAdvert.Unreadable) {
            bytes = try advert.bytes(in: payload)
        } catch {
            if case .frame(let frame) = decoded {
                hear(receiver, message, advert, rssi, frame, &batch)
            }
            return MessageFault(
                subject,
                advert.encoding == .base64
                    ? "its advert is not base64, or longer than 256 bytes"
                    : "its advert is not hexadecimal, or longer than 256 bytes",
                reading: error.excerpt)
        }
        guard case .frame(let frame) = decoded else {
            bytes.withBytes { hear(receiver, message, advert, rssi, $0, &batch) }
            return nil
        }
        guard let sent = bytes.frame else {
            hear(receiver, message, advert, rssi, frame, &batch)
            return .contradiction(subject, bytesHaveFrame: false, reading: advert.data, in: payload)
        }
        bytes.withBytes { hear(receiver, message, advert, rssi, $0, &batch) }
        return frame.agrees(with: sent)
            ? nil : .contradiction(subject, bytesHaveFrame: true, reading: advert.data, in: payload)
    }

    /// Delivers an advert without bytes.
    private mutating func hear(
        _ decoded: DecodedBeacon.Reading, _ advert: GatewayAdvert, _ rssi: Int, of receiver: Int,
        in subject: StaticString, _ message: Message, _ payload: RawSpan,
        _ batch: inout AdvertBatch
    ) -> MessageFault? {
        switch decoded {
        case .nothing: noteOther(receiver, message, stamp: advert.stamp)
        case .frame(let frame):
            hear(receiver, message, advert, rssi, frame, &batch)
        case .unreadable(let value):
            return MessageFault(
                subject, "its UUID, major or minor value cannot be read",
                reading: value.map { payload.excerpt($0.range) })
        }
        return nil
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

extension RawSpan {
    /// Returns a signal strength in dBm. A gateway without a reading writes null; the beacon was heard anyway, so that
    /// becomes "unavailable".
    @inline(__always)
    func reading(_ value: JSONToken) -> Int? {
        guard value.kind == .literal, matches(value.range, "null") else { return integer(value) }
        return Int(SignalStrength.unavailable.rawValue)
    }
}
