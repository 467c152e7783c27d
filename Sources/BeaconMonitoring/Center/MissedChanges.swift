import BeaconApplications
import BeaconModel

/// The changes of an application's regions while it did not run, until its clients have received them.
struct MissedChanges {
    /// For so long after the first client has received them, others that come belong to the same launch.
    private static let launchTime = Duration.seconds(10)

    private var changes: [(region: RegisteredRegion, before: RegionState)] = []
    private var receivedAt: Timestamp?
    private var isReceived = false

    /// True where changes were waiting, whether or not any of them is still to be delivered.
    let wereWaiting: Bool

    /// Applies the changes that were waiting to the regions, so that these have the states that they say.
    init(_ waiting: [PendingRegionEvent], _ regions: inout [RegisteredRegion]) {
        wereWaiting = !waiting.isEmpty
        for change in waiting {
            if let (place, before) = change.apply(to: &regions) { changes.append((regions[place], before)) }
        }
    }

    /// Advances the time.
    mutating func advance(to time: Timestamp) {
        guard !changes.isEmpty, isReceived else { return }
        let first = receivedAt ?? time
        receivedAt = first
        if .nanoseconds(time.since(first)) > Self.launchTime { changes = [] }
    }

    /// Removes a region's changes: a newer state replaces them.
    mutating func forget(_ identifier: String) {
        if !changes.isEmpty { changes.removeAll { $0.region.identifier == identifier } }
    }

    /// Returns true where something was missed of a region.
    func concerns(_ identifier: String) -> Bool { changes.contains { $0.region.identifier == identifier } }

    /// The events that a client of the launch is to receive.
    var events: [ClientEvent] { changes.flatMap { ClientEvent.changes(of: $0.region, from: $0.before) } }

    /// Marks the changes as received, after a client's callbacks have been made.
    ///
    /// - Returns: true the first time.
    mutating func markReceived() -> Bool {
        defer { isReceived = true }
        return !isReceived
    }
}
