/// Where adverts come from, one record at a time and in the order in which they were heard: a capture or the simulated
/// air.
///
/// A source does not wait: whoever pulls decides how fast time passes.
public protocol AdvertSource: ~Copyable {
    /// The receivers met so far; a ``BeaconModel/ReceiverID`` is a place in this table, which only grows.
    var receiverNames: [String] { get }

    /// What was delivered so far.
    var counts: SourceCounts { get }

    /// Reads one record and hands each advert in it to `deliver`, with the advert's AD structures.
    ///
    /// - Returns: the record, or nil at the end.
    /// - Throws: what `deliver` throws, and an error of the source that says what is wrong with it. After an error
    ///   there is nothing more to read.
    mutating func next(_ deliver: (Reception, RawSpan) throws -> Void) throws -> SourceRecord?
}
