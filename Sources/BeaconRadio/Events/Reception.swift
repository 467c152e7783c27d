public import BeaconModel

/// One step of a source: a packet of a capture, a line of a log, a transmission in the simulated air, or the adverts
/// that a radio heard until a moment.
///
/// A record has a time even where nothing in it is an advert, so that time passes in silence too.
public struct SourceRecord: Hashable, Sendable, BitwiseCopyable {
    /// The time at which it happened, counted from 1970, or nil where the source keeps no times.
    public var time: Timestamp?

    /// A record of this time.
    public init(time: Timestamp?) { self.time = time }
}

/// One advert as one receiver of a source heard it, without the advert's bytes, which travel beside it.
public struct Reception: Hashable, Sendable, BitwiseCopyable {
    /// The time at which it was heard, counted from 1970, or nil where the source keeps no times.
    public var time: Timestamp?

    /// The receiver that heard it: a place in the source's table of receivers' names.
    public var receiver: ReceiverID

    /// Kind, address and signal strength.
    public var report: AdvertisingReport

    /// True if the receiver, or the checksum of the record, reports that the bytes are not as they were sent. Such an
    /// advert is counted and must not be decoded.
    public var isDamaged: Bool

    /// A reception from its parts.
    public init(time: Timestamp?, receiver: ReceiverID, report: AdvertisingReport, isDamaged: Bool = false) {
        self.time = time
        self.receiver = receiver
        self.report = report
        self.isDamaged = isDamaged
    }
}

/// An advert of any device as a receiver heard it, with its bytes.
public struct HeardAdvert: Hashable, Sendable {
    /// Time, receiver and signal.
    public var reception: Reception

    /// The AD structures as they travelled.
    public var bytes: [UInt8]

    /// An advert from its parts.
    public init(_ reception: Reception, bytes: [UInt8]) {
        self.reception = reception
        self.bytes = bytes
    }
}

extension Reception {
    /// Decodes the advert as an iBeacon's: the one place where adverts become sightings.
    ///
    /// A reception without a time gives a sighting at time zero.
    ///
    /// - Parameter advert: the AD structures as they travelled.
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
    /// Records read, whatever was in them.
    public var packets = 0

    /// Adverts heard, damaged ones too.
    public var reports = 0

    /// Adverts that the receiver, or the checksum of the record, reports as damaged.
    public var badCRC = 0

    /// Creates counts of zero.
    public init() {}
}
