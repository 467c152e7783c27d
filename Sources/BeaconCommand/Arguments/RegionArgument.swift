import ArgumentParser
import BeaconModel

/// A region on the command line: `[NAME=]UUID[/MAJOR[/MINOR]]`.
struct RegionArgument: ExpressibleByArgument {
    /// What the user calls it; without a name, the constraint as it was written.
    var name: String

    /// Which beacons belong to it.
    var constraint: BeaconConstraint

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let text = parts.last, let constraint = BeaconConstraint(text) else { return nil }
        self.constraint = constraint
        name = parts.count == 2 ? String(parts[0]) : constraint.description
    }
}
