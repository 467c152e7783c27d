/// The evidence that one second gives for a move to another place.
///
/// Each second adds the lead of the other place, less a slack, to a sum; the beacon moves when the sum is large enough.
/// That is a sequential test: the CUSUM of E. S. Page (Continuous inspection schemes, Biometrika 41, 1954). Noise
/// subtracts as much as it adds, and each decibel beyond the slack counts, so that a large lead decides in seconds and
/// a small one in half a minute. Three things make the test faster where it is clear:
///
/// - A *large lead*: what exceeds ``largeLead`` counts ``largeGain`` times, since walls and doors rarely cause it.
/// - A *rise* of the lead over its slow mean: the beacon has just moved. A beacon that lies still has no rise.
/// - Little *noise*: if the levels of the two receivers barely differ from second to second, less is enough.
///
/// The numbers were chosen on four seeds of a simulated flat and on a door with one receiver a side, with four rooms, a
/// flat and an open office in view; see `docs/quality.md`. ``riseGain`` was chosen on eight other seeds, in an air with
/// missing adverts. With half of it, 95 in 100 moves are shown after 11 s instead of 9, and fixed tags move less often.
struct PlaceLead {
    /// The lead in dB from which each decibel counts more, and how often it counts.
    static let largeLead: Float = 8
    static let largeGain: Float = 3

    /// The rise in dB from which evidence counts more, the rise from which it counts fully, and how often it then
    /// counts for one pair of receivers. Several pairs share that, since they decide sooner anyway.
    static let firstRise: Float = 5
    static let fullRise: Float = 15
    static let riseGain: Float = 5
    static let leastRiseGain: Float = 2.5

    /// The noise of a pair of receivers in dB at which the necessary sum is the usual one, and the limits of the sum's
    /// change.
    static let usualNoise: Float = 4
    static let leastNeed: Float = 0.2
    static let mostNeed: Float = 2.5

    /// The lead of the other place in dB, and its excess over the slow mean of that lead.
    var lead: Float
    var rise: Float
    /// The noise of the two receivers in dB.
    var noise: Float

    /// Creates a lead.
    init(lead: Float, rise: Float, noise: Float) { (self.lead, self.rise, self.noise) = (lead, rise, noise) }

    /// Compares the levels of one beacon at the deciding receivers of two places.
    init(of other: PlaceLevel, over current: PlaceLevel) {
        lead = other.level - current.level
        rise = other.rise - current.rise
        noise = (other.noise * other.noise + current.noise * current.noise).squareRoot()
    }

    /// Returns the decibels of evidence of one second; negative if the other place does not lead by the slack.
    func evidence(slack: Float, pairs: Float) -> Float {
        // A larger margin means that larger leads are usual.
        let excess = max(lead - max(Self.largeLead, 4 * slack), 0)
        let part = min(max((rise - Self.firstRise) / (Self.fullRise - Self.firstRise), 0), 1)
        let gain = max(Self.riseGain / pairs, Self.leastRiseGain)
        let weight = 1 + (gain - 1) * part
        return (lead + (Self.largeGain - 1) * excess - slack) * weight
    }

    /// The factor of the necessary sum. What noise adds to a sum grows with its square. Above the usual noise, the
    /// factor grows only linearly, so that no beacon stays for minutes in its old place.
    var need: Float {
        let part = noise / Self.usualNoise
        return min(max(part < 1 ? part * part : part, Self.leastNeed), Self.mostNeed)
    }
}
