internal import BeaconEngine
internal import BeaconModel
import Foundation

/// The characteristics of a beacon that Apple's documents name and `CLBeacon` does not have there. Code that is to
/// compile for iOS too asks for them in a file of its own.
extension CLBeacon {
    /// The signal at one metre that the beacon's newest advert gives, in dBm; nil where it gives none.
    public var measuredPower: Int? { ranged?.measuredPower }

    /// The usual time between two of the beacon's adverts that were heard; nil until there were two. Where adverts are
    /// lost, it is longer than the beacon's own interval.
    public var advertisingInterval: Duration? { ranged?.advertisingInterval }

    /// The distances in metres that the signal allows, around ``accuracy``; nil where that is not known.
    ///
    /// They are those of a signal 6 dB stronger and weaker, by which the means of single seconds spread in recordings
    /// (`AdaptiveFilter.measurementVariance`): from half to twice the distance, beyond two metres.
    public var accuracyRange: ClosedRange<CLLocationAccuracy>? {
        guard accuracy > 0 else { return nil }
        let (model, spread) = (TwoSlopeModel(), Double(AdaptiveFilter().measurementVariance).squareRoot())
        // Each side of a metre has an exponent of its own.
        let exponent = accuracy < 1 ? model.innerExponent : model.outerExponent
        let loss = 10 * exponent * log10(accuracy)
        func distance(_ loss: Double) -> Double {
            pow(10, loss / (10 * (loss < 0 ? model.innerExponent : model.outerExponent)))
        }
        return distance(loss - spread)...distance(loss + spread)
    }
}
