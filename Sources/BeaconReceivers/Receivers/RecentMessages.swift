import BeaconModel

/// The hashes of recent messages, which detect duplicates.
///
/// A gateway that gets no answer from its broker sends a message again, and a broker that is bridged to another one may
/// deliver each message twice.
struct RecentMessages {
    /// The number of messages to remember, a power of two.
    private static let capacity = 1024

    private var entries: [(hash: UInt64, time: Timestamp)]
    /// Prevents clients from crafting messages whose hashes collide.
    private let seed: UInt64

    init(seed: UInt64 = .random(in: .min ... .max)) {
        self.seed = seed
        entries = Array(repeating: (0, .zero), count: Self.capacity)
    }

    /// Returns the hash of a topic.
    func hash(_ topic: RawSpan) -> UInt64 { Self.hash(topic, seed) }

    /// Returns the hash of a message.
    ///
    /// - Parameter topic: the hash of its topic.
    func hash(_ payload: RawSpan, behind topic: UInt64) -> UInt64 { Self.hash(payload, topic) }

    /// Notes a message.
    ///
    /// - Parameters:
    ///   - hash: its hash.
    ///   - time: the time of its arrival.
    ///   - span: the time for which an equal message counts as a duplicate, in nanoseconds.
    /// - Returns: true if it is a duplicate.
    mutating func note(_ hash: UInt64, at time: Timestamp, within span: Int64) -> Bool {
        let place = Int(truncatingIfNeeded: hash) & (Self.capacity - 1)
        let isKnown = entries[place].hash == hash && time.since(entries[place].time) <= span
        if !isKnown { entries[place] = (hash, time) }
        return isKnown
    }

    private static func hash(_ bytes: RawSpan, _ start: UInt64) -> UInt64 {
        var hash = start ^ UInt64(truncatingIfNeeded: bytes.byteCount)
        var position = 0
        while position &+ 8 <= bytes.byteCount {
            hash = mixed(hash ^ bytes.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self))
            position &+= 8
        }
        var rest: UInt64 = 0
        while position < bytes.byteCount {
            rest = rest &<< 8 | UInt64(bytes.unsafeLoad(fromByteOffset: position, as: UInt8.self))
            position &+= 1
        }
        return mixed(hash ^ rest)
    }

    /// Returns both halves of a product with a large odd number, folded. Each bit of the input changes half of the
    /// output.
    private static func mixed(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }
}
