/// The numbers of the tracks that the next sightings are of, as far as a look ahead shows.
///
/// A processor waits for the memory of one track after the other if each sighting is processed before the next is
/// looked up. If they are looked up together, the waits overlap. A number here is a guess: the reader compares the
/// track's key. An unexpected sighting, or a track that was removed in between, costs time and nothing else.
struct ExpectedTracks: ~Copyable {
    /// The most sightings that are looked up at once: their tracks fit into a processor's nearest cache.
    static let most = 64

    private let numbers: UnsafeMutablePointer<UInt32>
    private var position = 0
    private var count = 0

    init() { numbers = .allocate(capacity: Self.most) }

    deinit { numbers.deallocate() }

    mutating func removeAll() { (position, count) = (0, 0) }

    /// Adds the number of the sighting that comes next; without effect once there are ``most``.
    @inline(__always)
    mutating func append(_ number: UInt32) {
        guard count < Self.most else { return }
        numbers[count] = number
        count &+= 1
    }

    /// Removes and returns the next number; nil where nothing is expected.
    @inline(__always)
    mutating func next() -> UInt32? {
        guard position < count else { return nil }
        defer { position &+= 1 }
        return numbers[position]
    }
}
