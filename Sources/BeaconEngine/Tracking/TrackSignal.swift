/// What the engine keeps of a track for ranging, as far as every advert of a ranged beacon needs it. The rest is in its
/// ``TrackLevel``.
struct TrackSignal: BitwiseCopyable {
    static let unlisted: UInt32 = .max

    /// The adverts since the last report.
    var digest = SampleDigest()

    /// Its place in the list of beacons that are reported; ``unlisted`` where it is not.
    var listPosition: UInt32 = TrackSignal.unlisted

    var isListed: Bool { listPosition != Self.unlisted }
}
