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

    private struct State {
        var waiting: [BeaconConstraint: Report] = [:]
        var replaced = 0
    }

    private let state = Locked(State())

    /// Creates an empty set of reports.
    package init() {}

    /// The number of reports that were replaced before their callback was made.
    package var replacedReports: Int { state.withLock { $0.replaced } }

    /// Stores a report, replacing a waiting one.
    ///
    /// - Parameters:
    ///   - report: the report.
    ///   - constraint: the report's constraint.
    /// - Returns: true if none was waiting. The caller must then submit a callback that removes the report.
    package func put(_ report: Report, for constraint: BeaconConstraint) -> Bool {
        state.withLock { state in
            let isFirst = state.waiting.updateValue(report, forKey: constraint) == nil
            if !isFirst { state.replaced += 1 }
            return isFirst
        }
    }

    /// Removes and returns the waiting report of a constraint.
    package func take(_ constraint: BeaconConstraint) -> Report? {
        state.withLock { $0.waiting.removeValue(forKey: constraint) }
    }
}
