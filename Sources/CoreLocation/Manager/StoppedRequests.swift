internal import BeaconModel
internal import BeaconMonitoring

/// The requests that a manager has stopped, so that callbacks that are already on their way to the app can be dropped.
///
/// The app stops a request on its own thread, and the center processes the stop later. Each event records the number of
/// stops that the center had processed when it sent the event. If the app has made more stops by the time of the
/// callback, it has stopped the request in between, even if it has made an equal request since.
struct StoppedRequests {
    /// A request that the app can stop.
    enum Request: Hashable {
        /// Monitoring of the region with this identifier.
        case monitoring(String)
        /// Ranging of a constraint, directly or through a region.
        case ranging(BeaconConstraint, RangingRequester)
        /// All ranging of a constraint.
        case allRanging(BeaconConstraint)
    }

    /// The number of processed stops at some time.
    struct Mark {
        fileprivate var carriedOut: [Request: Int]
    }

    private struct Count {
        var made = 0
        var carriedOut = 0
    }

    private var counts: [Request: Count] = [:]

    /// Counts a stop that the app made.
    mutating func stop(_ request: Request) { counts[request, default: Count()].made += 1 }

    /// Counts a stop that the center has processed.
    ///
    /// - Parameter isQuiet: true if no callback is under way, so that no event needs the counts.
    mutating func carryOut(_ request: Request, isQuiet: Bool) {
        counts[request]?.carriedOut += 1
        if isQuiet { counts = counts.filter { $0.value.made > $0.value.carriedOut } }
    }

    /// The current mark, for an event that the center sends.
    var now: Mark { Mark(carriedOut: counts.mapValues(\.carriedOut)) }

    /// Returns true if the app has stopped a request since a mark.
    func isStopped(_ request: Request, since mark: Mark) -> Bool {
        (counts[request]?.made ?? 0) > mark.carriedOut[request] ?? 0
    }

    /// Returns true while the center has not processed all stops of a request.
    func isStopping(_ request: Request) -> Bool { counts[request].map { $0.made > $0.carriedOut } ?? false }
}
