import BeaconModel
import BeaconRadio

// Ruuvi Gateway: ruuvi/GATEWAY/TAG, both as MAC addresses, an object for each advert (ruuvi/docs, gw-data-formats,
// mqtt-time-stamped-data-from-bluetooth-sensors.md). The gateway must scan for all devices, not only for Ruuvi's. By
// HTTP, it posts an object with the newest advert of each device at data.tags
// (http-time-stamped-data-from-bluetooth-sensors.md).

extension ReceiverNetwork {
    mutating func readRuuvi(
        _ gateway: String, _ topic: RawSpan, _ message: Message, _ payload: RawSpan,
        _ batch: inout AdvertBatch
    ) -> MessageFault? {
        guard let receiver = sender(gateway, .ruuvi, message) else { return refusal }
        guard let object = payload.json, object.kind == .object,
            var advert = ruuviAdvert(object, payload, time: { advert, value in advert.stamp = payload.stamp(value) })
        else {
            return MessageFault(
                "a Ruuvi Gateway message", "it is not a JSON object", reading: payload.excerpt(0..<payload.byteCount))
        }
        advert.address = topic.address(message.levels[last: 1])
        guard advert.hasBytes || advert.beacon.isGiven else { return .noRuuviData }
        return hear(advert, of: receiver, in: "a Ruuvi Gateway message", message, payload, &batch)
    }

    /// Reads the message that a gateway posted.
    ///
    /// - Parameter data: the object at "data".
    mutating func readRuuviPost(
        _ data: JSONToken, _ message: Message, _ payload: RawSpan, _ batch: inout AdvertBatch
    ) -> MessageFault? {
        guard let name = payload.member("gw_mac", of: data).flatMap({ payload.string($0, limit: Self.longestName) })
        else { return MessageFault("a Ruuvi Gateway message", "it has no \"gw_mac\"") }
        guard let receiver = sender(name, .ruuvi, message) else { return refusal }
        guard let tags = payload.member("tags", of: data), tags.kind == .object else {
            return MessageFault("a Ruuvi Gateway message", "it has no \"tags\"")
        }
        // Both times are from the same clock, as strings of whole seconds. Adverts that waited for the network are not
        // current.
        let posted = payload.member("timestamp", of: data).flatMap { payload.integer($0) }
        var adverts: [(advert: GatewayAdvert, delay: Int)] = []
        var fault: MessageFault?
        payload.forEachMember(of: tags) { key, tag in
            var delay = 0
            let read = ruuviAdvert(tag, payload) { _, value in
                guard let posted, let heard = payload.integer(value) else { return }
                delay = max(0, posted.subtractingReportingOverflow(heard).0)
            }
            guard var read else {
                fault = MessageFault("a Ruuvi Gateway message", "one of its adverts is not a JSON object")
                return true
            }
            read.address = payload.address(key.range)
            adverts.append((read, delay))
            return true
        }
        for (advert, delay) in adverts {
            guard delay <= SkewedClock.maximumDelay / Timestamp.nanosecondsPerSecond else {
                lateAdverts += 1
                continue
            }
            guard advert.hasBytes || advert.beacon.isGiven else {
                fault = .noRuuviData
                continue
            }
            var dated = message
            dated.arrival = message.arrival.advanced(by: -Int64(delay) * Timestamp.nanosecondsPerSecond)
            fault =
                hear(advert, of: receiver, in: "a Ruuvi Gateway message", dated, payload, &batch) ?? fault
        }
        return fault
    }

    /// Returns the advert that an object describes; nil for a value that is not an object.
    ///
    /// - Parameter time: receives the time of the advert.
    private func ruuviAdvert(
        _ object: JSONToken, _ payload: RawSpan, time: (inout GatewayAdvert, JSONToken) -> Void
    ) -> GatewayAdvert? {
        var advert = GatewayAdvert()
        let isRead = payload.forEachMember(of: object) { key, value in
            switch key.range.count {
            case 4 where payload.equals(key.range, "rssi"): advert.rssi = payload.reading(value)
            case 4 where payload.equals(key.range, "data"): advert.data = value
            case 2 where payload.equals(key.range, "ts"): time(&advert, value)
            case 9 where payload.equals(key.range, "timestamp"): time(&advert, value)
            default: advert.beacon.take(key, value, in: payload)
            }
            return true
        }
        return isRead ? advert : nil
    }
}

extension MessageFault {
    fileprivate static let noRuuviData = MessageFault(
        "a Ruuvi Gateway message", "it has no \"data\"; configure the gateway to send raw data, not decoded values")
}

extension RawSpan {
    /// Returns a time since 1970 in seconds, milliseconds or microseconds. Its size determines the unit. Returns nil if
    /// there is no number, or if the time is before the year 2000, as from a clock that was never set.
    func stamp(_ value: JSONToken) -> Timestamp? {
        guard let number = number(value) else { return nil }
        let seconds =
            switch number {
            case ..<1e11: number
            case ..<1e14: number / 1e3
            default: number / 1e6
            }
        return seconds >= 946_684_800 ? Timestamp(seconds: seconds) : nil
    }
}
