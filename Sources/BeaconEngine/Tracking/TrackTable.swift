import BeaconModel

/// A table of all tracks, found by key in constant time.
///
/// A slot of this open-addressing table holds the number of a track and an eight-bit tag of its hash. The tag nearly
/// always shows whether the track must be compared. Tracks are in chunks that never move, so growing moves four bytes
/// per track and does not double the memory. A chunk holds its tracks, each in one cache line, then their digests, then
/// their levels.
struct TrackTable: ~Copyable {
    /// The number of tracks in a chunk, as a power of two: 4096, less than half a megabyte.
    private static let chunkBits = 12
    private static let chunkSize = 1 << chunkBits

    /// The mark of an unused track, stored as its key's address. No real address has these bits.
    private static let freeMark: UInt64 = .max

    /// The maximum number of tracks in any table: the numbers that fit into a slot beside the tag, without the one that
    /// marks a free slot.
    static let largestCapacity = 1 << tagShift - 1

    /// The first bit of the tag in a slot. Below it is the track's number plus one, so that it is above zero.
    private static let tagShift = 24
    private static let numberMask: UInt32 = 1 << tagShift - 1

    /// The maximum number of tracks.
    let capacity: Int

    /// The number of tracks in use.
    private(set) var count = 0

    private let seed: UInt64
    private var slots: UnsafeMutablePointer<UInt32>
    private var slotMask: Int
    private var chunks: UnsafeMutablePointer<UnsafeMutableRawPointer>
    private var chunkCount = 0
    private let chunkCapacity: Int

    /// The largest number of tracks that were ever in use at once. Memory beyond it is untouched.
    private(set) var extent = 0
    private var firstFree: Int?

    private var expected = ExpectedTracks()

    init(capacity: Int, seed: UInt64) {
        self.capacity = capacity
        self.seed = seed
        slotMask = 63
        slots = .allocate(capacity: 64)
        slots.initialize(repeating: 0, count: 64)
        chunkCapacity = (capacity + Self.chunkSize - 1) >> Self.chunkBits
        chunks = .allocate(capacity: max(1, chunkCapacity))
    }

    deinit {
        for index in 0..<chunkCount { chunks[index].deallocate() }
        chunks.deallocate()
        slots.deallocate()
    }

    /// A pointer to a track, valid as long as the table; a track's number is less than ``extent``.
    @inline(__always)
    subscript(index: Int) -> UnsafeMutablePointer<Track> {
        assert(index < extent, "no such track")
        return chunks[index &>> Self.chunkBits].assumingMemoryBound(to: Track.self) + (index & (Self.chunkSize &- 1))
    }

    /// A pointer to the readings of a track since the last report, valid as long as the table; a track's number is less
    /// than ``extent``.
    @inline(__always)
    func digest(_ index: Int) -> UnsafeMutablePointer<SampleDigest> {
        assert(index < extent, "no such track")
        let digests = chunks[index &>> Self.chunkBits] + Self.digestOffset
        return digests.assumingMemoryBound(to: SampleDigest.self) + (index & (Self.chunkSize &- 1))
    }

    /// A pointer to a track's level, valid as long as the table; a track's number is less than ``extent``.
    func level(_ index: Int) -> UnsafeMutablePointer<TrackLevel> {
        assert(index < extent, "no such track")
        let levels = chunks[index &>> Self.chunkBits] + Self.levelOffset
        return levels.assumingMemoryBound(to: TrackLevel.self) + (index & (Self.chunkSize &- 1))
    }

    /// Returns true if the track of this number, less than ``extent``, is in use.
    func isInUse(_ index: Int) -> Bool { self[index].pointee.key.address != Self.freeMark }

    /// Looks up the tracks of the next sightings, in their order, without changing any.
    ///
    /// - Parameter isRanging: whether their digests are needed as well.
    mutating func expect(_ sightings: Span<Sighting>, isRanging: Bool) {
        var times: Int64 = 0
        expected.removeAll()
        for place in sightings.indices {
            let hash = TrackKey(sightings[place]).hash(seed: seed)
            var place = Int(hash) & slotMask
            while slots[place] != 0, (slots[place] ^ hash) &>> UInt32(Self.tagShift) != 0 {
                place = (place &+ 1) & slotMask
            }
            let number = slots[place] & Self.numberMask &- 1
            expected.append(number)
            guard number < extent else { continue }
            times |= self[Int(number)].pointee.lastHeard
            if isRanging { times |= Int64(digest(Int(number)).pointee.count) }
        }
        // The compiler removes a read whose value is not used. No time is negative.
        if times < 0 { expected.removeAll() }
    }

    /// Returns the number of the track with this key, or nil. It is immediate for the next expected track.
    @inline(__always)
    mutating func findNext(_ key: TrackKey) -> Int? {
        if let number = expected.next(), number < extent, self[Int(number)].pointee.key == key { return Int(number) }
        return find(key)
    }

    /// Returns the number of the track with this key, or nil.
    @inline(__always)
    func find(_ key: TrackKey) -> Int? {
        let hash = key.hash(seed: seed)
        var place = Int(hash) & slotMask
        while true {
            let slot = slots[place]
            if slot == 0 { return nil }
            if (slot ^ hash) &>> UInt32(Self.tagShift) == 0 {
                let index = Self.index(slot)
                if self[index].pointee.key == key { return index }
            }
            place = (place &+ 1) & slotMask
        }
    }

    /// Adds a track whose key is not in the table.
    ///
    /// - Returns: its number.
    /// - Precondition: there are fewer than ``capacity``.
    mutating func insert(_ track: Track) -> Int {
        precondition(count < capacity, "the table is full")
        // Three quarters of the slots stay free, so that nearly all tracks are found in their home slot.
        if (count + 1) * 4 > slotMask + 1 { grow() }
        let index: Int
        if let free = firstFree {
            index = free
            let next = self[free].pointee.lastHeard
            firstFree = next < 0 ? nil : Int(next)
        } else {
            index = extent
            if index >> Self.chunkBits == chunkCount {
                chunks[chunkCount] = Self.makeChunk()
                chunkCount += 1
            }
            extent += 1
        }
        self[index].initialize(to: track)
        digest(index).initialize(to: SampleDigest())
        level(index).initialize(to: TrackLevel())
        count += 1
        place(index)
        return index
    }

    /// Removes a track that is in use.
    mutating func remove(_ index: Int) {
        var hole = home(index)
        while Self.index(slots[hole]) != index { hole = (hole + 1) & slotMask }
        // Close the gap: an entry may move back to the hole unless it is already at or behind its home slot.
        var next = (hole + 1) & slotMask
        while slots[next] != 0 {
            if (next - home(Self.index(slots[next]))) & slotMask >= (next - hole) & slotMask {
                slots[hole] = slots[next]
                hole = next
            }
            next = (next + 1) & slotMask
        }
        slots[hole] = 0
        self[index].pointee.key.address = Self.freeMark
        self[index].pointee.lastHeard = Int64(firstFree ?? -1)
        firstFree = index
        count -= 1
    }

    /// Returns the number of the track in a slot that is not free.
    @inline(__always)
    private static func index(_ slot: UInt32) -> Int { Int(slot & numberMask) &- 1 }

    /// Returns a track's home slot, which is searched first.
    private func home(_ index: Int) -> Int { Int(self[index].pointee.key.hash(seed: seed)) & slotMask }

    /// Stores a track in use in the first free slot from its home slot on.
    private func place(_ index: Int) {
        let hash = self[index].pointee.key.hash(seed: seed)
        var place = Int(hash) & slotMask
        while slots[place] != 0 { place = (place + 1) & slotMask }
        slots[place] = hash & ~Self.numberMask | UInt32(index + 1)
    }

    /// Doubles the slots.
    private mutating func grow() {
        slots.deallocate()
        slotMask = 2 * slotMask + 1
        slots = .allocate(capacity: slotMask + 1)
        slots.initialize(repeating: 0, count: slotMask + 1)
        for index in 0..<extent where isInUse(index) { place(index) }
    }

    // The offsets of a chunk's parts. Each part is a multiple of 4096 bytes, so that all are aligned like their chunk.
    private static var digestOffset: Int { chunkSize &* MemoryLayout<Track>.stride }
    private static var levelOffset: Int { digestOffset &+ chunkSize &* MemoryLayout<SampleDigest>.stride }
    private static var chunkByteCount: Int { levelOffset &+ chunkSize &* MemoryLayout<TrackLevel>.stride }

    private static func makeChunk() -> UnsafeMutableRawPointer {
        let cacheLine = 64
        let chunk = UnsafeMutableRawPointer.allocate(byteCount: chunkByteCount, alignment: cacheLine)
        chunk.bindMemory(to: Track.self, capacity: chunkSize)
        (chunk + digestOffset).bindMemory(to: SampleDigest.self, capacity: chunkSize)
        (chunk + levelOffset).bindMemory(to: TrackLevel.self, capacity: chunkSize)
        return chunk
    }
}
