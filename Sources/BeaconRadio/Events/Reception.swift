public import BeaconModel

/// One step of a source: a packet of a capture, a line of a log, a transmission in the simulated air, or the adverts of
/// a radio since its last step.
///
/// A record has a time even without adverts, so that time passes during silence too.
public struct SourceRecord: Hashable, Sendable, BitwiseCopyable {
    /// The time of the record, counted from 1970, or nil if the source has no times.
    public var time: Timestamp?

    /// Creates a record with this time.
    public init(time: Timestamp?) { self.time = time }
}

/// The reception of one advert by one receiver, without the advert's bytes, which are passed separately.
public struct Reception: Hashable, Sendable, BitwiseCopyable {
    /// The time of reception, counted from 1970, or nil if the source has no times.
    public var time: Timestamp?

    /// The receiver: an index into the source's table of receiver names.
    public var receiver: ReceiverID

    /// Kind, address and signal strength.
    public var report: AdvertisingReport

    /// True if the receiver or the record's checksum reports that the bytes are damaged. Such an advert is counted and
    /// must not be decoded.
    public var isDamaged: Bool

    /// Creates a reception from its parts.
    public init(time: Timestamp?, receiver: ReceiverID, report: AdvertisingReport, isDamaged: Bool = false) {
        self.time = time
        self.receiver = receiver
        self.report = report
        self.isDamaged = isDamaged
    }
}

/// A received advert of any device, with its bytes.
public struct HeardAdvert: Hashable, Sendable {
    /// Time, receiver and signal.
    public var reception: Reception

    /// The AD structures as received.
    public var bytes: [UInt8]

    /// Creates an advert from its parts.
    public init(_ reception: Reception, bytes: [UInt8]) {
        self.reception = reception
        self.bytes = bytes
    }
}

extension Reception {
    /// Decodes the advert as an iBeacon's. This is the only place where adverts become sightings.
    ///
    /// A reception without a time becomes a sighting at time zero.
    ///
    /// - Parameter advert: the AD structures as received.
    /// - Returns: nil if the advert is damaged or has no iBeacon frame.
    @inlinable
    @inline(__always)
    public func sighting(decoding advert: RawSpan) -> Sighting? {
        guard !isDamaged, let frame = IBeaconFrame(advert: advert) else { return nil }
        return Sighting(
            time: time ?? .zero, receiver: receiver, address: report.address, identity: frame.identity,
            measuredPower: frame.measuredPower, rssi: report.rssi)
    }
}

/// The counts of a source's records and adverts.
public struct SourceCounts: Hashable, Sendable, BitwiseCopyable {
    /// The records read, with any content.
    public var packets = 0

    /// The adverts received, including damaged ones.
    public var reports = 0

    /// The adverts that the receiver or the record's checksum reports as damaged.
    public var badCRC = 0

    /// Creates counts of zero.
    public init() {}
}
