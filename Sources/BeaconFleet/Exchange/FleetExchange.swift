import BeaconModel

/// What the machines of a fleet meet by: perishable adverts, entries that all see, and a log of what has happened.
///
/// Everything else of a fleet is the same whatever is behind it: NATS servers (``NATSExchange``), or nothing but this
/// process (``LocalExchange``).
package protocol FleetExchange: Sendable {
    /// Begins to connect, and goes on trying.
    ///
    /// - Parameter report: called with each change of the connection, on any thread.
    func open(report: @escaping @Sendable (FleetConnection) -> Void) throws

    /// Ends the connection.
    func close()

    /// Makes the log and the entries where there are none.
    ///
    /// - Parameter replicas: the servers that keep each of them.
    /// - Returns: what an operator should know; nil where there is nothing.
    func prepare(replicas: Int) async throws -> String?

    // MARK: Adverts

    /// Sends what a receiver heard to whoever owns a partition. It does not wait, and nothing is sent later.
    func publish(_ message: [UInt8], to partition: Int, from relay: FleetRelay) throws

    /// Receives what is sent to a partition.
    ///
    /// - Parameter receive: called with the relay and the message, in order, on any thread.
    /// - Returns: what ends it.
    func listen(
        to partition: Int, receive: @escaping @Sendable (_ relay: FleetRelay, _ message: [UInt8]) -> Void
    ) throws -> any FleetListening

    // MARK: Entries

    /// Returns an entry; nil where there is none.
    func entry(_ key: FleetKey) async throws -> FleetEntry?

    /// Returns all entries of a kind.
    func entries(_ kind: FleetKey.Kind) async throws -> [FleetEntry]

    /// Writes an entry.
    ///
    /// - Parameters:
    ///   - value: the new value.
    ///   - key: the key.
    ///   - revision: that of the value to be replaced; zero where there is to be none; nil where it does not matter.
    /// - Returns: the revision, greater than those of all that was written before.
    /// - Throws: ``FleetError`` with the code `conflict` where another has written it.
    func put(_ value: [UInt8], for key: FleetKey, replacing revision: UInt64?) async throws -> UInt64

    /// Removes an entry.
    func remove(_ key: FleetKey, at revision: UInt64) async throws

    // MARK: The log

    /// Adds a message to a partition's part of the log.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - partition: the partition.
    ///   - id: its name: a second one of the name is not added, and answered as the first.
    ///   - sequence: the number of the last message of the partition; zero for none.
    /// - Returns: its number.
    /// - Throws: ``FleetError`` with the code `conflict` where another has written after that.
    func append(_ message: [UInt8], to partition: Int, id: String, after sequence: UInt64) async throws -> UInt64

    /// Returns the last message of a partition; nil where there is none.
    func lastMessage(of partition: Int) async throws -> FleetMessage?

    /// Returns the first message from a number on; nil where there is none so far.
    ///
    /// - Parameter partition: the partition; nil for all.
    func message(from sequence: UInt64, of partition: Int?) async throws -> FleetMessage?

    /// Returns the number of the newest message; zero where there is none.
    func lastSequence() async throws -> UInt64
}

/// A source of a machine, as what it hears comes to workers.
package struct FleetRelay: Hashable, Sendable {
    /// The machine.
    package var node: String
    /// The source's number, from 2; nil for the machine's first.
    package var source: Int?

    package init(node: String, source: Int? = nil) {
        (self.node, self.source) = (node, source)
    }

    /// The most sources of a machine: one that lies about them fills no table.
    package static let mostSources = 32

    /// What stands between a machine's name and a source's number, and in no machine's name.
    package static let separator: Character = "#"

    /// The name by which receivers of it are called.
    package var name: String { source.map { "\(node)\(Self.separator)\($0)" } ?? node }
}

/// Something that listens until it is cancelled.
package protocol FleetListening: Sendable {
    func cancel()
}

/// A change of the connection to a fleet.
package enum FleetConnection: Hashable, Sendable {
    case connected
    /// It is tried again; why, in a sentence.
    case lost(String)
    /// The servers refuse something, of which nothing else comes to be known; what, in a sentence.
    case refused(String)
    /// Messages of a partition came faster than they were taken, and were dropped.
    case dropped(partition: Int)
    /// There may be something new in the log.
    case logged
}

/// The name of an entry.
package enum FleetKey: Hashable, Sendable {
    /// A kind of entry.
    package enum Kind: String, Hashable, Sendable {
        case partition, duty, worker, member, region, holders, place, checkpoint, settings

        /// Whether entries of the kind vanish where they are not written again.
        package var expires: Bool { [.partition, .duty, .worker, .member].contains(self) }
    }

    /// Who owns a partition. It expires.
    case partition(Int)
    /// Who delivers. It expires.
    case delivery
    /// A worker that is there, by what stands for its run. It expires.
    case worker(String)
    /// What a machine says of itself. It expires.
    case member(String)
    /// What is known of a region, by its owner's label.
    case region(String)
    /// Which receivers keep the regions of a partition inside.
    case holders(Int)
    /// Where a beacon is.
    case place(String)
    /// Up to which number of the log the entries of a partition are written.
    case checkpoint(Int)
    /// Up to which number of the log everything was delivered.
    case delivered
    /// What all machines follow.
    case configuration

    package var kind: Kind {
        switch self {
        case .partition: .partition
        case .delivery: .duty
        case .worker: .worker
        case .member: .member
        case .region: .region
        case .holders: .holders
        case .place: .place
        case .checkpoint: .checkpoint
        case .delivered, .configuration: .settings
        }
    }

    /// The name within the kind.
    package var name: String {
        switch self {
        case .partition(let number), .checkpoint(let number), .holders(let number): "\(number)"
        case .worker(let name), .member(let name), .region(let name), .place(let name): name
        case .delivery: "delivery"
        case .delivered: "delivered"
        case .configuration: "configuration"
        }
    }

}

/// An entry that all machines of a fleet see.
package struct FleetEntry: Hashable, Sendable {
    /// The name within its kind.
    package var name: String
    package var value: [UInt8]
    package var revision: UInt64
}

/// A message of the log.
package struct FleetMessage: Hashable, Sendable {
    package var sequence: UInt64
    package var value: [UInt8]
}

/// A failure of a fleet's exchange.
package struct FleetError: Error, Sendable, CustomStringConvertible {
    /// A kind of failure.
    package struct Code: Hashable, Sendable {
        private let name: String

        /// Another machine has written in between.
        package static let conflict = Code(name: "conflict")
        /// There is no connection, or no answer in time.
        package static let unreachable = Code(name: "unreachable")
        /// Whatever is tried, it will not work until something is changed.
        package static let refused = Code(name: "refused")
    }

    package var code: Code
    /// What happened, and what to do.
    package var description: String
    package var cause: (any Error)?

    package init(_ code: Code, _ description: String, cause: (any Error)? = nil) {
        self.code = code
        self.description = description
        self.cause = cause
    }
}

/// The times of a fleet.
package enum FleetTiming {
    /// The time after which an entry that expires is gone. A server that leads may take 8 s to be replaced (measured
    /// with three servers of version 2.9.10), in which nobody can renew anything.
    package static let lease = Duration.seconds(15)
    /// How often leases are renewed.
    package static let renewal = Duration.seconds(3)
    /// The time until the next attempt where one has failed.
    package static let retry = Duration.milliseconds(500)
    /// The time after the last renewal was sent, in nanoseconds, from which on an owner takes itself for none: shorter
    /// than the lease, so that it has stopped when another begins.
    package static let ownership = 12 * Timestamp.nanosecondsPerSecond
    /// For how long, in nanoseconds, a receiver that keeps a region may be silent after a partition was taken over
    /// before it counts as deaf.
    package static let absence = 10 * Timestamp.nanosecondsPerSecond
}
