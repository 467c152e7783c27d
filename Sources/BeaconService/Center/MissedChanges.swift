import BeaconEngine
import BeaconModel

/// What happened to an application's regions while it did not run. Its clients are told as they come, soon after a launch.
struct MissedChanges {
    /// For so long after the first time that the radio tells, a client that comes is still one of the launch.
    private static let launchTime = Duration.seconds(10)

    private var changes: [(region: RegisteredRegion, before: RegionState)] = []
    private var isTold = false
    private var firstTime: Timestamp?

    /// Takes in what was waiting, and gives the regions the states that it says.
    init(_ waiting: [WaitingChange], _ regions: inout [RegisteredRegion]) {
        for change in waiting {
            if let (place, before) = change.apply(to: &regions) { changes.append((regions[place], before)) }
        }
    }

    /// The radio told the time.
    mutating func note(_ time: Timestamp) {
        guard !changes.isEmpty else { return }
        let first = firstTime ?? time
        firstTime = first
        if .nanoseconds(time.since(first)) > Self.launchTime { changes = [] }
    }

    /// What is newer about a region takes the place of what was missed.
    mutating func forget(_ identifier: String) {
        if !changes.isEmpty { changes.removeAll { $0.region.identifier == identifier } }
    }

    /// Tells a new client.
    ///
    /// - Returns: whether this was the first that was told something.
    mutating func tell(_ deliver: (ClientEvent) -> Void) -> Bool {
        guard !changes.isEmpty else { return false }
        for (region, before) in changes {
            for event in ClientEvent.changes(of: region, from: before) { deliver(event) }
        }
        defer { isTold = true }
        return !isTold
    }
}
