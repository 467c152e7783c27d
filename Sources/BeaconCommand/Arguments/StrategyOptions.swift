import ArgumentParser
import BeaconEngine

/// The options that override the parameters of ranging, for `scripts/quality`, which compares them on recordings.
struct StrategyOptions: ParsableArguments {
    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp(
            "Override a ranging parameter; may be given several times.",
            discussion: "Names: \(StrategyNumber.names).", valueName: "name=number"),
        transform: StrategyNumber.init)
    var strategy: [StrategyNumber] = []

    /// The strategy with these parameters.
    var value: RangingStrategy {
        var (filter, distance) = (AdaptiveFilter(), TwoSlopeModel())
        for number in strategy { number.key.apply(number.value, &filter, &distance) }
        return RangingStrategy(filter: filter, distance: distance)
    }
}

/// A ranging parameter on the command line: `NAME=NUMBER`.
struct StrategyNumber {
    /// The parameters that were fitted to recordings.
    enum Key: String, CaseIterable {
        case innerExponent = "inner-exponent"
        case outerExponent = "outer-exponent"
        case drift
        case surpriseGain = "surprise-gain"
        case surpriseLimit = "surprise-limit"
        case doubt

        /// Sets the parameter in a filter or a distance model.
        func apply(_ value: Double, _ filter: inout AdaptiveFilter, _ distance: inout TwoSlopeModel) {
            switch self {
            case .innerExponent: distance.innerExponent = value
            case .outerExponent: distance.outerExponent = value
            case .drift: filter.driftVariance = Float(value)
            case .surpriseGain: filter.surpriseGain = Float(value)
            case .surpriseLimit: filter.surpriseLimit = Float(value)
            case .doubt: filter.doubt = Float(value)
            }
        }

        /// The valid values.
        var range: ClosedRange<Double> {
            switch self {
            case .innerExponent, .outerExponent: 0.1...10
            case .surpriseGain: 0.001...1
            case .drift, .surpriseLimit, .doubt: 0...1000
            }
        }
    }

    let key: Key
    let value: Double

    /// The names, as a user writes them.
    static var names: String {
        let names = Key.allCases.map(\.rawValue)
        return names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
    }

    /// Reads a parameter.
    ///
    /// - Throws: `ValidationError`, with the names or the bounds.
    init(_ argument: String) throws {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let key = Key(rawValue: String(parts[0])) else {
            throw ValidationError("a ranging parameter is NAME=NUMBER, with one of the names \(Self.names)")
        }
        guard let value = Double(parts[1]), key.range.contains(value) else {
            let (least, most) = (key.range.lowerBound, key.range.upperBound)
            throw ValidationError("\(key.rawValue) is \(parts[1]); it has to be from \(least) to \(most)")
        }
        (self.key, self.value) = (key, value)
    }
}
