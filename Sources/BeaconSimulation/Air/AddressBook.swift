import BeaconModel
import BeaconSupport

/// The addresses of one sender over time.
struct AddressBook: Sendable {
    private let seed: UInt64
    private let stream: String
    private let rotation: Int64?

    /// The moment from which the present address is in use, in nanoseconds after the start of the simulation.
    private var since: Int64

    /// The number of the present address, counted from 0.
    private(set) var turn = 0

    /// The present address.
    private(set) var address: DeviceAddress

    /// Creates the addresses of a sender.
    ///
    /// - Parameters:
    ///   - addressing: how it comes by them.
    ///   - start: since when the first is in use, in nanoseconds after the start of the simulation; may be negative.
    ///   - seed: the seed of the simulation.
    ///   - stream: the name of the sender's random streams.
    init(_ addressing: Addressing, start: Int64, seed: UInt64, stream: String) {
        self.seed = seed
        self.stream = stream
        since = start
        switch addressing {
        case .given(let address):
            rotation = nil
            self.address = address
        case .drawn:
            rotation = nil
            // The two top bits distinguish a static address from a resolvable private one (Core Specification, Vol 6,
            // Part B, 1.3.2).
            address = Self.address(top: 0b11, turn: 0, seed: seed, stream: stream)
        case .rotating(let period):
            rotation = period
            address = Self.address(top: 0b01, turn: 0, seed: seed, stream: stream)
        }
    }

    /// Advances to the address that is in use at a moment.
    ///
    /// - Returns: whether it is another one.
    mutating func advance(to time: Int64) -> Bool {
        guard let rotation, time - since >= rotation else { return false }
        let turns = (time - since) / rotation
        since += turns * rotation
        turn += Int(turns)
        address = Self.address(top: 0b01, turn: turn, seed: seed, stream: stream)
        return true
    }

    /// Returns the address of a turn, which follows from the turn alone, so that a silent sender needs no steps
    /// meanwhile.
    private static func address(top: UInt64, turn: Int, seed: UInt64, stream: String) -> DeviceAddress {
        var random = SplitMix64(seed: seed, stream: "address \(turn) of \(stream)")
        return DeviceAddress(bits: random.next() >> 18 | top << 46, kind: .random)
    }
}

/// The origin of a sender's addresses.
enum Addressing: Hashable, Sendable {
    /// The scenario gives it.
    case given(DeviceAddress)

    /// A random static address, drawn once.
    case drawn

    /// A private address, drawn anew each time this many nanoseconds have passed since the sender was first on.
    case rotating(Int64)
}
