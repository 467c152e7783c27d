import ArgumentParser
import BeaconModel

/// A region on the command line: `[NAME=]UUID[/MAJOR[/MINOR]]`.
struct RegionArgument {
    /// What the user calls it; without a name, the constraint as it was written.
    var name: String

    /// Which beacons belong to it.
    var constraint: BeaconConstraint

    /// Reads a region.
    ///
    /// - Throws: `ValidationError` that says what a region looks like.
    init(_ argument: String) throws {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let text = parts.last, let constraint = BeaconConstraint(text), parts.count == 1 || !parts[0].isEmpty
        else {
            throw ValidationError(
                "a region is [NAME=]UUID[/MAJOR[/MINOR]] with numbers up to 65535, for instance "
                    + "hall=e2c56db5-dffb-48d2-b060-d0f5a71096e0/1")
        }
        self.constraint = constraint
        name = parts.count == 2 ? String(parts[0]) : constraint.description
    }
}
