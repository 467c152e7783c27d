/// The expected track numbers of the next sightings.
///
/// If each sighting is processed before the next is looked up, the processor waits for the memory of one track after
/// the other. If they are looked up together, the waits overlap. A number here is a guess, so the reader compares the
/// track's key. An unexpected sighting or a removed track costs only time.
struct ExpectedTracks: ~Copyable {
    /// The maximum number of sightings that are looked up at once: their tracks fit into a processor's first-level
    /// cache.
    static let most = 64

    private let numbers: UnsafeMutablePointer<UInt32>
    private var position = 0
    private var count = 0

    init() { numbers = .allocate(capacity: Self.most) }

    deinit { numbers.deallocate() }

    mutating func removeAll() { (position, count) = (0, 0) }

    /// Adds the number of the next sighting; without effect once there are ``most``.
    @inline(__always)
    mutating func append(_ number: UInt32) {
        guard count < Self.most else { return }
        numbers[count] = number
        count &+= 1
    }

    /// Removes and returns the next number; nil if nothing is expected.
    @inline(__always)
    mutating func next() -> UInt32? {
        guard position < count else { return nil }
        defer { position &+= 1 }
        return numbers[position]
    }
}
