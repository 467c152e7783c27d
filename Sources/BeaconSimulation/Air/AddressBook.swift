import BeaconModel
import BeaconSupport

/// The addresses of one sender over time.
struct AddressBook: Sendable {
    private let seed: UInt64
    private let stream: String
    private let rotation: Int64?
    /// The function of the sender's key, which identifies the sender; nil for a sender without one.
    private let resolver: AddressResolver?

    /// The time since which the current address is in use, in nanoseconds after the start of the simulation.
    private var since: Int64

    /// The number of the current address, counted from 0.
    private(set) var turn = 0

    /// The current address.
    private(set) var address: DeviceAddress

    /// Creates the addresses of a sender.
    ///
    /// - Parameters:
    ///   - addressing: the origin of the addresses.
    ///   - start: the time since which the first address is in use, in nanoseconds after the start of the simulation;
    ///     may be negative.
    ///   - seed: the seed of the simulation.
    ///   - stream: the name of the sender's random streams.
    init(_ addressing: Addressing, start: Int64, seed: UInt64, stream: String) {
        self.seed = seed
        self.stream = stream
        since = start
        if case .resolvable(let key, _) = addressing { resolver = AddressResolver(key) } else { resolver = nil }
        switch addressing {
        case .given(let address):
            rotation = nil
            self.address = address
        case .drawn:
            rotation = nil
            // The two top bits distinguish a static address from a resolvable private one (Core Specification, Vol 6,
            // Part B, 1.3.2).
            address = Self.address(top: 0b11, turn: 0, seed: seed, stream: stream)
        case .rotating(let period), .resolvable(_, let period):
            rotation = period
            address = Self.address(top: 0b01, turn: 0, seed: seed, stream: stream, resolver)
        }
    }

    /// Advances to the address in use at a time.
    ///
    /// - Returns: true if the address has changed.
    mutating func advance(to time: Int64) -> Bool {
        guard let rotation, time - since >= rotation else { return false }
        let turns = (time - since) / rotation
        since += turns * rotation
        turn += Int(turns)
        address = Self.address(top: 0b01, turn: turn, seed: seed, stream: stream, resolver)
        return true
    }

    /// Returns the address with a number. It depends only on the number, so that a silent sender needs no intermediate
    /// steps.
    private static func address(
        top: UInt64, turn: Int, seed: UInt64, stream: String, _ resolver: AddressResolver? = nil
    ) -> DeviceAddress {
        var random = SplitMix64(seed: seed, stream: "address \(turn) of \(stream)")
        if let resolver { return resolver.address(random: UInt32(truncatingIfNeeded: random.next())) }
        return DeviceAddress(bits: random.next() >> 18 | top << 46, kind: .random)
    }
}

/// The origin of a sender's addresses.
enum Addressing: Hashable, Sendable {
    /// The scenario sets it.
    case given(DeviceAddress)

    /// A random static address, drawn once.
    case drawn

    /// A private address that changes each time this many nanoseconds have passed since the sender was first on.
    case rotating(Int64)

    /// A resolvable address of a key, which changes in the same way.
    case resolvable(IdentityResolvingKey, Int64)
}
