package import BeaconModel
import BeaconSupport

/// The newest ranging report of each constraint, for a client whose callbacks may be delayed.
///
/// A slow client loses old reports, but never an entry, an exit or a failure: one report per constraint waits, and a
/// newer report replaces it.
package final class PendingRangingReports: Sendable {
    /// A report that waits for its callback.
    package struct Report: Sendable {
        /// The beacons, nearest first.
        package var beacons: [RangedBeacon]
        /// The second that the report describes, counted from 1970.
        package var time: Timestamp

        /// Creates a report.
        package init(beacons: [RangedBeacon], time: Timestamp) {
            self.beacons = beacons
            self.time = time
        }
    }

    private let waiting = Locked<[BeaconConstraint: Report]>([:])

    /// Creates an empty set of reports.
    package init() {}

    /// Stores a report, replacing a waiting one.
    ///
    /// - Parameters:
    ///   - report: the report.
    ///   - constraint: the report's constraint.
    /// - Returns: true if none was waiting. The caller must then submit a callback that removes the report.
    package func put(_ report: Report, for constraint: BeaconConstraint) -> Bool {
        waiting.withLock { $0.updateValue(report, forKey: constraint) == nil }
    }

    /// Removes and returns the waiting report of a constraint.
    package func take(_ constraint: BeaconConstraint) -> Report? {
        waiting.withLock { $0.removeValue(forKey: constraint) }
    }
}
