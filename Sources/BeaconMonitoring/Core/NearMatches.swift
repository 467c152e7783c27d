import BeaconModel
import BeaconRadio

/// The search for beacons that nearly match a constraint that no beacon matches: the same UUID with another major or
/// minor value, or the UUID in reverse order. Bytes are easily swapped, and some beacons change their minor value.
///
/// Each constraint is reported once. Its notice holds until a beacon of it is heard. The numbers of reports and of
/// examined identities are bounded, and the search only works while a constraint waits for a beacon.
struct NearMatches {
    /// The time for which a constraint waits for its own beacon, in nanoseconds: more than the longest legal interval.
    private static let patience = 11 * Timestamp.nanosecondsPerSecond

    /// The most identities to examine, the most to name in a notice, and the most constraints to report.
    private static let (maximumHeard, maximumNamed, maximumReported) = (64, 4, 20)

    /// The constraints that wait for a beacon, each with the time in nanoseconds since which it does.
    private var waiting: [BeaconConstraint: Int64] = [:]
    /// The reported constraints, each with its notice while that holds.
    private var reported: [BeaconConstraint: RadioNotice?] = [:]
    /// The UUIDs of the constraints that wait, in both byte orders.
    private var uuids: Set<ProximityUUID> = []
    private var heard: Set<BeaconIdentity> = []
    /// The time in nanoseconds of the next review.
    private(set) var due = Int64.max

    /// The notices that still hold, in a fixed order.
    var notices: [RadioNotice] { reported.values.compactMap { $0 }.sorted { $0.message < $1.message } }

    /// Starts to wait for a beacon of a constraint.
    mutating func wait(for constraint: BeaconConstraint?, at time: Int64) {
        guard let constraint, reported[constraint] == nil, reported.count < Self.maximumReported else { return }
        if waiting.isEmpty { (heard, uuids) = ([], []) }
        waiting[constraint] = time
        uuids.formUnion([constraint.uuid, constraint.uuid.reversed])
        due = min(due, time + Self.patience)
    }

    /// Ends the wait for a beacon of a constraint, and the validity of its notice.
    mutating func end(_ constraint: BeaconConstraint?) {
        guard !waiting.isEmpty || !reported.isEmpty, let constraint else { return }
        waiting[constraint] = nil
        if reported[constraint] != nil { reported[constraint] = .some(nil) }
    }

    /// Sets the time at which all constraints begin to wait: the first one that is known.
    mutating func begin(at time: Int64) {
        for constraint in waiting.keys { wait(for: constraint, at: time) }
        due = time + Self.patience
    }

    /// Notes the identity of a sighting.
    @inline(__always)
    mutating func note(_ identity: BeaconIdentity, at time: Int64) {
        guard !waiting.isEmpty, heard.count < Self.maximumHeard, uuids.contains(identity.uuid),
            heard.insert(identity).inserted
        else { return }
        due = min(due, time + Self.patience)
    }

    /// Returns notices of the constraints that have waited long enough. Beacons of other constraints don't count.
    mutating func review(at time: Int64, among constraints: [BeaconConstraint]) -> [RadioNotice] {
        due = .max
        let strangers = heard.filter { one in !constraints.contains { $0.major != nil && $0.matches(one) } }
        var notices: [RadioNotice] = []
        for (constraint, since) in waiting {
            guard time - since >= Self.patience else {
                due = min(due, since + Self.patience)
                continue
            }
            let near = strangers.filter(constraint.isNear)
            guard !near.isEmpty else { continue }
            waiting[constraint] = nil
            guard reported.count < Self.maximumReported else { continue }
            let notice = Self.notice(constraint, near)
            reported[constraint] = notice
            notices.append(notice)
        }
        return notices.sorted { $0.message < $1.message }
    }

    private static func notice(_ constraint: BeaconConstraint, _ near: Set<BeaconIdentity>) -> RadioNotice {
        func isSwapped(_ identity: BeaconIdentity) -> Bool {
            identity.uuid != constraint.uuid
                || identity.major.byteSwapped == constraint.major
                    && identity.minor.byteSwapped == constraint.minor ?? identity.minor.byteSwapped
        }
        let names = near.sorted { (isSwapped($0) ? 0 : 1, $0) < (isSwapped($1) ? 0 : 1, $1) }.prefix(maximumNamed).map {
            ($0.uuid == constraint.uuid ? "\($0.major)/\($0.minor)" : "\($0)")
                + (isSwapped($0) ? " (its bytes reversed)" : "")
        }
        let more = near.count > maximumNamed ? " and others" : ""
        return RadioNotice(
            .nearMatch, adapter: "\(constraint)",
            "no beacon matches, but beacons of this UUID are heard: \(names.joined(separator: ", "))\(more)")
    }
}

extension RadioNotice.Kind {
    /// A beacon nearly matches a constraint that no beacon matches.
    static let nearMatch = RadioNotice.Kind("near-match")
}

extension BeaconConstraint {
    /// Returns true for a beacon that does not match, but whose UUID does, or does in reverse order.
    fileprivate func isNear(_ identity: BeaconIdentity) -> Bool {
        !matches(identity) && (identity.uuid == uuid || identity.uuid == uuid.reversed)
    }
}

extension ProximityUUID {
    /// The UUID with its bytes in reverse order.
    fileprivate var reversed: ProximityUUID { ProximityUUID(high: low.byteSwapped, low: high.byteSwapped) }
}
