import ArgumentParser
import BeaconService

/// How fast a source plays: a factor, or `max`.
struct SpeedArgument: ExpressibleByArgument {
    var pace: Pace

    init?(argument: String) {
        if argument == "max" {
            pace = .fastest
        } else if let factor = Double(argument), factor > 0, factor.isFinite {
            pace = .times(factor)
        } else {
            return nil
        }
    }
}
