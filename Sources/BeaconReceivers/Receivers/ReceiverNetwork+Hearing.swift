import BeaconModel
import BeaconRadio

// What messages say that receivers heard.

extension ReceiverNetwork {
    /// Takes in an advert.
    ///
    /// - Parameters:
    ///   - receiver: the place of the receiver that heard it.
    ///   - stamp: when, by the receiver's own clock; nil where it does not say.
    mutating func hear(
        _ receiver: Int, _ message: Message, stamp: Timestamp? = nil, address: DeviceAddress?, rssi: Int,
        advert: RawSpan, _ deliver: (Reception, RawSpan) throws -> Void
    ) rethrows {
        counts.reports += 1
        receivers[receiver].adverts += 1
        guard !message.isRetained else {
            lateAdverts += 1
            return
        }
        guard let time = time(of: stamp, by: receiver, message) else {
            lateAdverts += 1
            return
        }
        try hear(receiver, at: time, address: address, rssi: rssi, advert: advert, deliver)
    }

    /// Returns when a receiver heard an advert; nil where that is too long ago, so that it proves no life.
    private mutating func time(of stamp: Timestamp?, by receiver: Int, _ message: Message) -> Timestamp? {
        guard let stamp else { return message.arrival }
        let known = receivers[receiver].clock.time(of: stamp, arrivedAt: message.arrival)
        signs.add(receiver, isLate: known == nil)
        return known
    }

    /// Delivers an advert.
    func hear(
        _ receiver: Int, at time: Timestamp, address: DeviceAddress?, rssi: Int, advert: RawSpan,
        _ deliver: (Reception, RawSpan) throws -> Void
    ) rethrows {
        // A number that is no byte is no reading.
        let strength = Int8(exactly: rssi).map(SignalStrength.init(rawValue:)) ?? .unavailable
        let report = AdvertisingReport(
            kind: .nonConnectable, address: address ?? DeviceAddress(bits: 0, kind: .anonymous), rssi: strength)
        try deliver(
            Reception(time: time, receiver: ReceiverID(UInt16(receiver)), report: report), advert)
    }

    /// Calls a function with the bytes of an iBeacon's advert.
    static func withAdvert(of frame: IBeaconFrame, _ body: (RawSpan) throws -> Void) rethrows {
        var advert = InlineArray<30, UInt8>(repeating: 0)
        var span = advert.mutableSpan
        span.withUnsafeMutableBytes { frame.write(to: $0) }
        try body(advert.span.bytes)
    }

    /// Counts a message that came before.
    mutating func countDuplicate() { duplicates += 1 }

    /// Counts adverts that came too late.
    mutating func countLate(_ adverts: Int) { lateAdverts += adverts }

    /// Counts an advert of another device.
    mutating func noteOther(_ receiver: Int, _ message: Message, stamp: Timestamp?) {
        counts.reports += 1
        receivers[receiver].adverts += 1
        if !message.isRetained, time(of: stamp, by: receiver, message) == nil { lateAdverts += 1 }
    }
}
