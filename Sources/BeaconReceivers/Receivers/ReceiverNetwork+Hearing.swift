import BeaconModel
import BeaconRadio

// The adverts in messages.

extension ReceiverNetwork {
    /// Adds an advert whose bytes are in a message.
    ///
    /// - Parameters:
    ///   - receiver: the index of the receiver that heard it.
    ///   - reception: its address, its signal strength, and its time by the receiver's own clock.
    ///   - bytes: its AD structures.
    mutating func hear(
        _ receiver: Int, _ message: Message, _ reception: GatewayAdvert.Reception, _ bytes: RawSpan,
        _ batch: inout AdvertBatch
    ) {
        guard let time = countAdvert(of: receiver, message, stamp: reception.stamp) else { return }
        hear(receiver, at: time, address: reception.address, rssi: reception.rssi, advert: bytes, &batch)
    }

    /// Adds an iBeacon that the gateway has decoded.
    mutating func hear(
        _ receiver: Int, _ message: Message, _ reception: GatewayAdvert.Reception, _ frame: IBeaconFrame,
        _ batch: inout AdvertBatch
    ) {
        guard let time = countAdvert(of: receiver, message, stamp: reception.stamp) else { return }
        hear(
            Sighting(
                time: time, receiver: ReceiverID(UInt16(receiver)), address: Self.address(reception.address),
                identity: frame.identity, measuredPower: frame.measuredPower, rssi: Self.strength(reception.rssi)),
            &batch)
    }

    /// Counts an advert of another device.
    mutating func noteOther(_ receiver: Int, _ message: Message, _ reception: GatewayAdvert.Reception) {
        _ = countAdvert(of: receiver, message, stamp: reception.stamp)
    }

    /// Counts an advert.
    ///
    /// - Returns: the time at which the receiver heard it; nil if the advert is not current, so that it proves no life.
    private mutating func countAdvert(of receiver: Int, _ message: Message, stamp: Timestamp?) -> Timestamp? {
        counts.reports += 1
        receivers[receiver].adverts += 1
        guard !message.isRetained else {
            lateAdverts += 1
            return nil
        }
        guard let stamp else { return message.arrival }
        let known = receivers[receiver].clock.time(of: stamp, arrivedAt: message.arrival)
        signs.add(receiver, isLate: known == nil)
        if known == nil { lateAdverts += 1 }
        return known
    }

    /// Delivers an advert.
    func hear(
        _ receiver: Int, at time: Timestamp, address: DeviceAddress?, rssi: Int, advert: RawSpan,
        _ batch: inout AdvertBatch
    ) {
        guard isListening else { return }
        let report = AdvertisingReport(
            kind: .nonConnectable, address: Self.address(address), rssi: Self.strength(rssi))
        batch.hear(Reception(time: time, receiver: ReceiverID(UInt16(receiver)), report: report), advert)
    }

    /// Delivers an iBeacon.
    func hear(_ sighting: Sighting, _ batch: inout AdvertBatch) {
        if isListening { batch.hear(sighting) }
    }

    private static func address(_ address: DeviceAddress?) -> DeviceAddress {
        address ?? DeviceAddress(bits: 0, kind: .anonymous)
    }

    /// Returns a signal strength. A number outside the range of a byte counts as unavailable.
    private static func strength(_ rssi: Int) -> SignalStrength {
        Int8(exactly: rssi).map(SignalStrength.init(rawValue:)) ?? .unavailable
    }
}
