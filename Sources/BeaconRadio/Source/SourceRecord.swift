public import BeaconModel

/// One step of a source: a packet of a capture, a line of a log, a transmission in the simulated air.
///
/// A record tells the time even where nothing in it is an advert, so that time passes in silence too.
public struct SourceRecord: Hashable, Sendable, BitwiseCopyable {
    /// When it happened, counted from 1970, or nil where the source keeps no times.
    public var time: Timestamp?

    /// A record of this time.
    public init(time: Timestamp?) { self.time = time }
}
