import BeaconApplications
import BeaconModel

/// The changes of an application's regions while it did not run, until its clients have received them.
struct MissedChanges {
    /// Clients that are added within this time after the first client received the changes belong to the same launch.
    private static let launchTime = Duration.seconds(10)

    private var changes: [(region: RegisteredRegion, before: RegionState)] = []
    private var receivedAt: Timestamp?
    private var isReceived = false

    /// True if changes were pending at launch, whether or not any is still undelivered.
    let wereWaiting: Bool

    /// Applies the pending changes to the regions' states.
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

    /// Adds a change from a known state.
    mutating func append(_ region: RegisteredRegion, from before: RegionState) { changes.append((region, before)) }

    /// Returns true if a change of this region was missed.
    func concerns(_ identifier: String) -> Bool { changes.contains { $0.region.identifier == identifier } }

    /// The events to deliver to a client of the launch.
    var events: [ClientEvent] { changes.flatMap { ClientEvent.changes(of: $0.region, from: $0.before) } }

    /// Marks the changes as received, after a client's callbacks have been made.
    ///
    /// - Returns: true the first time.
    mutating func markReceived() -> Bool {
        defer { isReceived = true }
        return !isReceived
    }
}
