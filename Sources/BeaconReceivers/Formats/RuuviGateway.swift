import BeaconModel
import BeaconRadio

// Ruuvi Gateway: ruuvi/GATEWAY/TAG, both as MAC addresses, an object for each advert (ruuvi/docs, gw-data-formats,
// mqtt-time-stamped-data-from-bluetooth-sensors.md). The gateway has to scan for all devices, not for Ruuvi's alone. By
// HTTP, an object with the newest advert of each device at data.tags
// (http-time-stamped-data-from-bluetooth-sensors.md).

extension ReceiverNetwork {
    mutating func readRuuvi(
        _ gateway: String, _ topic: RawSpan, _ message: Message, _ payload: RawSpan,
        _ deliver: (Reception, RawSpan) throws -> Void
    ) rethrows -> MessageFault? {
        guard let receiver = place(of: gateway, .ruuvi, message) else { return .tooManyReceivers }
        var rssi: Int?
        var stamp: Timestamp?
        var data: JSONValue?
        guard let object = payload.json,
            payload.forEachMember(
                of: object,
                { key, value in
                    switch key.range.count {
                    case 4 where payload.equals(key.range, "rssi"): rssi = payload.integer(value)
                    case 4 where payload.equals(key.range, "data"): data = value
                    case 2 where payload.equals(key.range, "ts"): stamp = payload.stamp(value)
                    default: break
                    }
                    return true
                })
        else { return MessageFault("a Ruuvi Gateway message", "it is no JSON object") }
        guard let rssi, let data, data.kind == .string else {
            return MessageFault(
                "a Ruuvi Gateway message",
                "it has no \"rssi\" or no \"data\"; have the gateway send raw data, not decoded values")
        }
        var bytes = AdvertBytes()
        guard bytes.append(hexadecimal: data.range, of: payload) else {
            return MessageFault("a Ruuvi Gateway message", "its \"data\" is not hexadecimal")
        }
        let address = topic.address(message.levels[last: 1])
        try bytes.withBytes {
            try hear(receiver, message, stamp: stamp, address: address, rssi: rssi, advert: $0, deliver)
        }
        return nil
    }

    /// Reads what a gateway posted.
    ///
    /// - Parameter data: the object at "data".
    mutating func readRuuviPost(
        _ data: JSONValue, _ message: Message, _ payload: RawSpan, _ deliver: (Reception, RawSpan) throws -> Void
    ) rethrows -> MessageFault? {
        let name = payload.member("gw_mac", of: data).flatMap { payload.string($0, limit: Self.longestName) }
        guard let name, let tags = payload.member("tags", of: data) else {
            return MessageFault("a Ruuvi Gateway message", "it has no \"gw_mac\" or no \"tags\"")
        }
        guard let receiver = place(of: name, .ruuvi, message) else { return .tooManyReceivers }
        note(receiver, message)
        // Both times are of one clock, as texts of whole seconds: what waited while there was no network is not of now.
        let posted = payload.member("timestamp", of: data).flatMap { payload.integer($0) }
        var adverts: [(address: DeviceAddress?, rssi: Int?, data: JSONValue?, delay: Int)] = []
        payload.forEachMember(of: tags) { key, tag in
            let heard = payload.member("timestamp", of: tag).flatMap { payload.integer($0) }
            let delay = posted.flatMap { posted in heard.map { posted.subtractingReportingOverflow($0).0 } } ?? 0
            adverts.append(
                (
                    payload.address(key.range), payload.member("rssi", of: tag).flatMap { payload.integer($0) },
                    payload.member("data", of: tag), max(0, delay)
                ))
            return true
        }
        var fault: MessageFault?
        for advert in adverts {
            var bytes = AdvertBytes()
            guard let rssi = advert.rssi, let data = advert.data, data.kind == .string,
                bytes.append(hexadecimal: data.range, of: payload)
            else {
                fault = MessageFault(
                    "a Ruuvi Gateway message", "an advert of it has no \"rssi\", or its \"data\" is not hexadecimal")
                continue
            }
            guard advert.delay <= SkewedClock.mostDelay / Timestamp.nanosecondsPerSecond else {
                countLate(1)
                continue
            }
            counts.reports += 1
            receivers[receiver].adverts += 1
            let time = message.arrival.advanced(by: -Int64(advert.delay) * Timestamp.nanosecondsPerSecond)
            try bytes.withBytes {
                try hear(receiver, at: time, address: advert.address, rssi: rssi, advert: $0, deliver)
            }
        }
        return fault
    }
}

extension RawSpan {
    /// Returns a time since 1970 in seconds, milliseconds or microseconds, told apart by its size; nil where there is
    /// none, or where it lies before the year 2000, as that of a clock that was not set.
    func stamp(_ value: JSONValue) -> Timestamp? {
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
