/// The ``RegionWatch`` of each region by the region's number.
///
/// It is an array without what an array does at each change: seeing to it that nobody else holds the same storage. Nobody
/// can, since the table cannot be copied and gives no pointer away.
struct WatchTable: ~Copyable {
    private var storage: UnsafeMutablePointer<RegionWatch>
    private var capacity = 16
    private var count = 0

    init() { storage = .allocate(capacity: capacity) }

    // RegionWatch is BitwiseCopyable: there is nothing to deinitialize.
    deinit { storage.deallocate() }

    /// Puts a watch at a number that is in the table, or at the one after the last.
    mutating func put(_ watch: RegionWatch, at number: Int) {
        precondition(number >= 0 && number <= count, "numbers are given out in order")
        if number == capacity {
            let larger = UnsafeMutablePointer<RegionWatch>.allocate(capacity: 2 * capacity)
            larger.moveInitialize(from: storage, count: count)
            storage.deallocate()
            storage = larger
            capacity *= 2
        }
        (storage + number).initialize(to: watch)
        count = max(count, number + 1)
    }

    /// The watch at a number that was put.
    subscript(number: Int) -> RegionWatch {
        @inline(__always) get {
            precondition(number >= 0 && number < count, "no such region")
            return storage[number]
        }
        @inline(__always) _modify {
            precondition(number >= 0 && number < count, "no such region")
            yield &storage[number]
        }
    }
}
