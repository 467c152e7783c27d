/// The uncertainty of distances: in about 68 % of all seconds, the true distance is within ``range(of:isPowerKnown:)``.
///
/// The range is the estimate times two factors, which fall with the estimate: small estimates tend to be too near, and
/// large ones too far. The factors are a compromise between recordings with known positions, chosen halfway between
/// their common quantiles and constant factors; see `docs/quality.md`. Most of the remaining error differs between
/// recordings: it is the difference between a transmitter's real and claimed power.
public enum DistanceUncertainty {
    /// The estimate in meters from which a range has no upper end.
    ///
    /// So few positions of the recordings are beyond it that no upper end has evidence. The signal is then so weak that
    /// a wall, a person or the floor of the receiver may have caused it.
    public static let openEstimate = 20.0

    private static let ofKnownPower = FactorTable(
        estimate: [0.3, 0.7, 1.4, 2.5, 4, 6.5, 12],
        nearest: [0.70, 0.72, 0.67, 0.60, 0.50, 0.40, 0.30],
        farthest: [2.6, 2.6, 2.1, 2.0, 1.8, 1.6, 1.4])

    /// A power that is only assumed is wrong by some 6 dB (one standard deviation).
    private static let ofAssumedPower = FactorTable(
        estimate: [0.3, 0.7, 1.4, 2.5, 4, 6.5, 12],
        nearest: [0.90, 0.90, 0.67, 0.44, 0.32, 0.24, 0.15],
        farthest: [7.2, 5.3, 3.7, 2.5, 1.7, 1.15, 1.15])

    /// Returns the range that probably contains the true distance, in meters. It contains the estimate, and both its
    /// ends grow with the estimate. From ``openEstimate`` on, its upper end is infinite: the true distance is probably
    /// more than the lower end.
    ///
    /// - Parameters:
    ///   - distance: the estimated distance in meters, at least zero.
    ///   - isPowerKnown: whether the beacon's power at one meter is known. If not, the range is wider.
    public static func range(of distance: Double, isPowerKnown: Bool = true) -> ClosedRange<Double> {
        (isPowerKnown ? ofKnownPower : ofAssumedPower).range(of: distance)
    }
}

/// The factors from an estimate to the ends of its range.
///
/// Between two estimates of the table, the logarithms of the factors are linear in the logarithm of the estimate.
/// Outside of the table, the factors are constant.
private struct FactorTable: Sendable {
    private struct Row {
        var estimate: Double
        var nearest: Double
        var farthest: Double
    }

    private let rows: [Row]
    /// The logarithms of the rows.
    private let logarithms: [Row]

    init(estimate: [Double], nearest: [Double], farthest: [Double]) {
        rows = estimate.indices.map { Row(estimate: estimate[$0], nearest: nearest[$0], farthest: farthest[$0]) }
        logarithms = rows.map { row in
            Row(
                estimate: Exponential.logarithm(row.estimate), nearest: Exponential.logarithm(row.nearest),
                farthest: Exponential.logarithm(row.farthest))
        }
    }

    func range(of distance: Double) -> ClosedRange<Double> {
        let factors = factors(of: distance)
        let farthest = distance < DistanceUncertainty.openEstimate ? distance * factors.farthest : .infinity
        return ClosedRange(uncheckedBounds: (distance * factors.nearest, farthest))
    }

    private func factors(of distance: Double) -> (nearest: Double, farthest: Double) {
        guard distance > rows[0].estimate else { return (rows[0].nearest, rows[0].farthest) }
        guard let place = rows.firstIndex(where: { distance <= $0.estimate }) else {
            return (rows[rows.count - 1].nearest, rows[rows.count - 1].farthest)
        }
        let (before, after) = (logarithms[place - 1], logarithms[place])
        let part = (Exponential.logarithm(distance) - before.estimate) / (after.estimate - before.estimate)
        return (
            Exponential.powerOfTen(before.nearest + part * (after.nearest - before.nearest)),
            Exponential.powerOfTen(before.farthest + part * (after.farthest - before.farthest))
        )
    }
}
