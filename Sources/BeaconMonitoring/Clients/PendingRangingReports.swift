package import BeaconModel
import BeaconSupport

/// The newest ranging report for each constraint of a client whose callbacks may be behind.
///
/// A client that is slow loses old reports, never an enter, an exit or a failure: one report of each constraint waits,
/// and a newer one takes its place.
package final class PendingRangingReports: Sendable {
    /// A report that waits for its callback.
    package struct Report: Sendable {
        /// The beacons, nearest first.
        package var beacons: [RangedBeacon]
        /// The second that the report is for, counted from 1970.
        package var time: Timestamp

        /// A report from its parts.
        package init(beacons: [RangedBeacon], time: Timestamp) {
            self.beacons = beacons
            self.time = time
        }
    }

    private struct State {
        var waiting: [BeaconConstraint: Report] = [:]
        var replaced = 0
    }

    private let state = Locked(State())

    /// Creates an empty set of reports.
    package init() {}

    /// The number of reports that a newer one replaced before their callback was made.
    package var replacedReports: Int { state.withLock { $0.replaced } }

    /// Stores a report, in place of the one that waits.
    ///
    /// - Parameters:
    ///   - report: the report.
    ///   - constraint: the constraint that it is for.
    /// - Returns: true where none waited, so that a callback is to be made that removes it.
    package func put(_ report: Report, for constraint: BeaconConstraint) -> Bool {
        state.withLock { state in
            let isFirst = state.waiting.updateValue(report, forKey: constraint) == nil
            if !isFirst { state.replaced += 1 }
            return isFirst
        }
    }

    /// Removes and returns the report that waits for a constraint.
    package func take(_ constraint: BeaconConstraint) -> Report? {
        state.withLock { $0.waiting.removeValue(forKey: constraint) }
    }
}
