public import BeaconModel

/// What one receiver hears of the beacons that a ranging request is for, once a second, also when that is nothing.
public struct RangingReport: Hashable, Sendable {
    /// The request.
    public var ranging: RangingID

    /// The whole second that the report is for; adverts up to and including it count.
    public var time: Timestamp

    /// The receiver.
    public var receiver: ReceiverID

    /// The beacons, nearest first, those of unknown distance last.
    public var beacons: [RangedBeacon]
}
