package import BeaconModel
import BeaconSupport

/// The division of beacons among the workers of a fleet.
///
/// All beacons of a region are in one partition, together with the regions within it. A single worker therefore handles
/// a region's state, its reports and the places of its beacons, and nothing needs to be merged. Beacons outside all
/// regions are in no partition.
package struct FleetPartitions: Hashable, Sendable {
    /// The number of partitions.
    package let count: Int
    /// The partitions of the monitored constraints. Regions within another region are not used for the lookup.
    private let partitions: [BeaconConstraint: Int]

    /// Divides the monitored constraints.
    ///
    /// - Parameters:
    ///   - constraints: the beacons of regions and places.
    ///   - count: the number of partitions, at least 1.
    package init(_ constraints: some Sequence<BeaconConstraint>, count: Int) {
        let count = max(1, count)
        self.count = count
        partitions = Dictionary(
            constraints.map { ($0, Int(StableHash.fnv1a($0.description.utf8) % UInt64(count))) }
        ) { first, _ in first }
    }

    /// Returns the partition of a beacon; nil if no region or place includes it.
    package func partition(of beacon: BeaconIdentity) -> Int? { partition(of: BeaconConstraint(beacon)) }

    /// Returns the partition of all beacons of a constraint; nil if no region or place includes them.
    package func partition(of constraint: BeaconConstraint) -> Int? {
        // The widest constraint that contains it decides.
        if let partition = partitions[BeaconConstraint(uuid: constraint.uuid)] { return partition }
        guard let major = constraint.major else { return nil }
        if let partition = partitions[BeaconConstraint(uuid: constraint.uuid, major: major)] { return partition }
        return constraint.minor == nil ? nil : partitions[constraint]
    }
}
