import BeaconModel

/// The messages of the last moments, by which one that came twice is known.
///
/// A gateway that had no answer of its broker sends a message again, and a broker that is bridged to another may
/// deliver each twice.
struct RecentMessages {
    /// How many are known, a power of two.
    private static let capacity = 1024

    private var entries: [(hash: UInt64, time: Timestamp)]
    /// So that nobody can make messages that are taken for one another.
    private let seed: UInt64

    init(seed: UInt64 = .random(in: .min ... .max)) {
        self.seed = seed
        entries = Array(repeating: (0, .zero), count: Self.capacity)
    }

    /// Returns the number that stands for a topic: equal ones have the same.
    func hash(_ topic: RawSpan) -> UInt64 { Self.hash(topic, seed) }

    /// Returns the number that stands for a message.
    ///
    /// - Parameter topic: the number that stands for its topic.
    func hash(_ payload: RawSpan, behind topic: UInt64) -> UInt64 { Self.hash(payload, topic) }

    /// Notes a message.
    ///
    /// - Parameters:
    ///   - hash: the number that stands for it.
    ///   - time: when it came.
    ///   - span: for how long an equal one counts as the same, in nanoseconds.
    /// - Returns: true where it came before.
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

    /// Both halves of a product with a large odd number, folded: each bit of the input changes half of the output.
    private static func mixed(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }
}
