/// A heap of the times at which to check regions, earliest first.
///
/// An advert moves its region's deadline and leaves the entry unchanged, so that a sighting costs no timer work. An
/// entry that fires too early is rearmed for the current deadline. A region has one valid entry, the one for the time
/// in ``RegionSlot/armedAt``. An earlier deadline adds an entry. The entry that it replaces and the entries of
/// unmonitored regions stay until their time and are then ignored.
struct DeadlineHeap {
    private struct Entry {
        var time: Int64
        var region: RegionID

        static func < (left: Entry, right: Entry) -> Bool {
            left.time == right.time ? left.region.number < right.region.number : left.time < right.time
        }
    }

    private var entries: [Entry] = []

    /// The earliest time, or the end of time if the heap is empty.
    var earliest: Int64 { entries.first?.time ?? .max }

    mutating func insert(_ region: RegionID, at time: Int64) {
        entries.append(Entry(time: time, region: region))
        var child = entries.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child] < entries[parent] else { return }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes and returns the region with the earliest time.
    mutating func removeEarliest() -> RegionID? {
        guard let first = entries.first, let last = entries.popLast() else { return nil }
        guard !entries.isEmpty else { return first.region }
        entries[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count {
                if entries[child] < entries[least] { least = child }
            }
            guard least != parent else { return first.region }
            entries.swapAt(parent, least)
            parent = least
        }
    }
}
