public import BeaconModel

/// One advert as one receiver of a source heard it, without the advert's bytes, which travel beside it.
public struct Reception: Hashable, Sendable, BitwiseCopyable {
    /// When it was heard, counted from 1970, or nil where the source keeps no times.
    public var time: Timestamp?

    /// The receiver that heard it: a place in ``AdvertSource/receiverNames``.
    public var receiver: ReceiverID

    /// Kind, address and signal strength.
    public var report: AdvertisingReport

    /// Whether the receiver, or the check sum that came along, says that the bytes are not as they were sent. Such an
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
