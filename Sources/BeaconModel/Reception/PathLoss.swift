/// The law by which signals weaken with distance, which ranging assumes and the simulated air follows.
///
/// The signal falls by ten times the exponent in decibels for each tenfold distance. Both exponents are below that of
/// free space, 2. Within a meter, receivers and antennas saturate, and half a meter adds 4.5 dB instead of 6. Beyond
/// it, walls and floors reflect, and three meters lose 8.3 dB instead of 9.5. The exponents were chosen on recordings
/// of phones, of a robot, of carried beacons and of people who turn, each with the others held out; see
/// `docs/quality.md`.
public enum PathLoss {
    /// The exponent within a meter.
    public static let innerExponent = 1.5

    /// The exponent beyond a meter.
    public static let outerExponent = 1.75
}
