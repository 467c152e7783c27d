internal import BeaconModel
internal import BeaconMonitoring

/// The requests that a manager has stopped, so that a callback on its way to the app by then is not made.
///
/// The app stops a request on its own thread, and the center carries that out later. An event keeps the number of stops
/// that the center had carried out when it sent the event. If there are more by the time of the callback, the app has
/// stopped the request in between, even if it has made an equal one since.
struct StoppedRequests {
    /// A request that the app can stop.
    enum Request: Hashable {
        /// To monitor the region of an identifier.
        case monitoring(String)
        /// To range a constraint, in one of the two ways.
        case ranging(BeaconConstraint, RangingRequester)
        /// To range a constraint at all.
        case allRanging(BeaconConstraint)
    }

    /// The stops that were carried out by a moment.
    struct Mark {
        fileprivate var carriedOut: [Request: Int]
    }

    private struct Count {
        var made = 0
        var carriedOut = 0
    }

    private var counts: [Request: Count] = [:]

    /// Counts a stop by the app.
    mutating func stop(_ request: Request) { counts[request, default: Count()].made += 1 }

    /// Counts a stop that the center has carried out.
    ///
    /// - Parameter isQuiet: true where no callback is under way, so that no event has a moment to compare with.
    mutating func carryOut(_ request: Request, isQuiet: Bool) {
        counts[request]?.carriedOut += 1
        if isQuiet { counts = counts.filter { $0.value.made > $0.value.carriedOut } }
    }

    /// The present moment, for an event that the center sends.
    var now: Mark { Mark(carriedOut: counts.mapValues(\.carriedOut)) }

    /// Returns true where the app has stopped a request since a moment.
    func isStopped(_ request: Request, since moment: Mark) -> Bool {
        (counts[request]?.made ?? 0) > moment.carriedOut[request] ?? 0
    }

    /// Returns true while the center has still to carry out a stop.
    func isStopping(_ request: Request) -> Bool { counts[request].map { $0.made > $0.carriedOut } ?? false }
}
