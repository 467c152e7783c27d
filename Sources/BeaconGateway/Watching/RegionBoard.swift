import BeaconEngine
import BeaconModel
import BeaconService

/// Where all regions stand, as all sources together know it: somebody is inside as long as one source says so.
///
/// A source that fails or ends knows nothing any more. Where no other knows either, a region stays as it is: that nobody
/// listens is no exit.
struct RegionBoard {
    /// A region.
    struct Entry {
        /// For whom it is watched.
        var watched: WatchedRegion
        /// Which beacons belong to it.
        var constraint: BeaconConstraint
        /// Where it stands.
        var state: RegionState
        /// What each open source knows of it.
        fileprivate var states: [Int: RegionState]
    }

    /// A region that stands otherwise than before.
    struct Change {
        /// For whom it is watched.
        var watched: WatchedRegion
        /// What happened, with the states of all sources together; its name is the label.
        var event: SessionEvent.RegionEvent

        /// What happened, in one word.
        var kind: SessionEvent.Kind {
            if event.state == .inside { return .enter }
            return event.before == .inside ? .exit : .state
        }
    }

    private var entries: [String: Entry] = [:]
    private var open: Set<Int> = []
    private var newest = Timestamp.zero

    /// All regions.
    var regions: some Collection<Entry> { entries.values }

    /// Where a region stands; unknown for one that is not watched.
    func state(of watched: WatchedRegion) -> RegionState { entries[watched.label]?.state ?? .unknown }

    /// Watches for a region, or anew for the one under its label.
    mutating func add(_ watched: WatchedRegion, _ constraint: BeaconConstraint, assuming state: RegionState) {
        let states = Dictionary(uniqueKeysWithValues: open.map { ($0, state) })
        entries[watched.label] = Entry(watched: watched, constraint: constraint, state: state, states: states)
    }

    /// Watches for a region no more.
    mutating func remove(_ watched: WatchedRegion) { entries[watched.label] = nil }

    /// A source begins, and assumes of each region what is known of it.
    mutating func open(_ source: Int) {
        open.insert(source)
        for label in entries.keys {
            guard let state = entries[label]?.state else { continue }
            entries[label]?.states[source] = state
        }
    }

    /// A source knows nothing any more.
    mutating func close(_ source: Int) -> [Change] {
        open.remove(source)
        // In an order that does not hang on chance.
        return entries.keys.sorted().compactMap { label in
            guard let entry = entries[label] else { return nil }
            entries[label]?.states[source] = nil
            let event = SessionEvent.RegionEvent(
                name: label, constraint: entry.constraint, time: newest, receiver: nil, state: .outside,
                before: entry.state)
            return settle(label, event)
        }
    }

    /// Takes in what a source found.
    ///
    /// - Returns: the change, if the sources together now say something else than before.
    mutating func receive(_ event: SessionEvent.RegionEvent, from source: Int) -> Change? {
        newest = max(newest, event.time)
        guard entries[event.name] != nil else { return nil }
        entries[event.name]?.states[source] = event.state
        return settle(event.name, event)
    }

    private mutating func settle(_ label: String, _ event: SessionEvent.RegionEvent) -> Change? {
        guard let entry = entries[label] else { return nil }
        let states = entry.states.values
        let state: RegionState =
            states.contains(.inside) ? .inside : states.contains(.outside) ? .outside : entry.state
        guard state != entry.state else { return nil }
        entries[label]?.state = state
        var event = event
        event.before = entry.state
        event.state = state
        return Change(watched: entry.watched, event: event)
    }
}
