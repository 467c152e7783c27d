import BeaconModel
import BeaconRadio

// Ruuvi Gateway: ruuvi/GATEWAY/TAG, both as MAC addresses, an object for each advert (ruuvi/docs, gw-data-formats,
// mqtt-time-stamped-data-from-bluetooth-sensors.md). The gateway must scan for all devices, not only for Ruuvi's. By
// HTTP, it posts an object with the newest advert of each device at data.tags
// (http-time-stamped-data-from-bluetooth-sensors.md).

extension ReceiverNetwork {
    private static let ruuviMessage: StaticString = "a Ruuvi Gateway message"
    private static let noRuuviData: StaticString =
        "it has no \"data\"; configure the gateway to send raw data, not decoded values"

    mutating func readRuuvi(
        _ gateway: String, _ topic: RawSpan, _ message: Message, _ payload: RawSpan,
        _ batch: inout AdvertBatch
    ) -> MessageFault? {
        guard let receiver = sender(gateway, .ruuvi, message) else { return refusal }
        guard let object = payload.json, object.kind == .object, var advert = Self.ruuviAdvert(object, payload) else {
            return MessageFault(
                Self.ruuviMessage, "it is not a JSON object", reading: payload.excerpt(0..<payload.byteCount))
        }
        advert.device = topic.address(message.levels[last: 1])
        hear(advert, of: receiver, in: Self.ruuviMessage, lacking: Self.noRuuviData, message, payload, &batch)
        return nil
    }

    /// Reads the message that a gateway posted.
    ///
    /// - Parameter data: the object at "data".
    mutating func readRuuviPost(
        _ data: JSONToken, _ message: Message, _ payload: RawSpan, _ batch: inout AdvertBatch
    ) -> MessageFault? {
        let subject = Self.ruuviMessage
        guard let name = payload.member("gw_mac", of: data).flatMap({ payload.name($0) }) else {
            return MessageFault(subject, "it has no \"gw_mac\"", reading: payload.excerpt(data.range))
        }
        guard let receiver = sender(name, .ruuvi, message) else { return refusal }
        guard let tags = payload.member("tags", of: data), tags.kind == .object else {
            return MessageFault(subject, "it has no \"tags\"", reading: payload.excerpt(data.range))
        }
        // Both times are from the same clock. Adverts that waited for the network are not current.
        let posted = payload.member("timestamp", of: data).flatMap { time($0, of: receiver, payload) }
        payload.forEachMember(of: tags) { key, tag in
            guard var advert = Self.ruuviAdvert(tag, payload) else {
                note(.noObject("an advert of a Ruuvi Gateway", tag, in: payload), of: receiver)
                return true
            }
            // A clock that was never set may still tell how long an advert waited.
            let heard = advert.time.flatMap { time($0, after: (posted ?? 0) > 1e9 ? 1e9 : 0, of: receiver, payload) }
            advert.time = nil
            advert.address = key
            let delay = max(0, (posted ?? 0) - (heard ?? posted ?? 0)) * Double(Timestamp.nanosecondsPerSecond)
            guard delay <= Double(SkewedClock.maximumDelay) else {
                lateAdverts += 1
                return true
            }
            var dated = message
            dated.arrival = message.arrival.advanced(by: -Int64(delay))
            hear(advert, of: receiver, in: subject, lacking: Self.noRuuviData, dated, payload, &batch)
            return true
        }
        return nil
    }

    /// Reads a time. One that cannot be read is a fault of the receiver.
    private mutating func time(
        _ value: JSONToken, after least: Double = 0, of receiver: Int, _ payload: RawSpan
    ) -> Double? {
        let seconds = payload.secondsSince1970(value).flatMap { Timestamp(seconds: $0)?.seconds }
        if let seconds, seconds >= least { return seconds }
        if !payload.isNull(value) { note(Self.noTime, value, in: Self.ruuviMessage, payload, of: receiver) }
        return nil
    }

    /// Returns the advert that an object describes; nil for a value that is not an object.
    private static func ruuviAdvert(_ object: JSONToken, _ payload: RawSpan) -> GatewayAdvert? {
        var advert = GatewayAdvert()
        let isRead = payload.forEachMember(of: object) { key, value in
            switch key.range.count {
            case 4 where payload.equals(key.range, "rssi"): advert.rssi = value
            case 4 where payload.equals(key.range, "data"): advert.data = value
            case 2 where payload.equals(key.range, "ts"): advert.time = value
            case 9 where payload.equals(key.range, "timestamp"): advert.time = value
            default: advert.beacon.take(key, value, in: payload)
            }
            return true
        }
        return isRead ? advert : nil
    }
}
