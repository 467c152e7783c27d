import BeaconModel
import BeaconSupport

/// The communication of a fleet's machines: transient adverts, shared entries, and a log of changes.
///
/// The rest of a fleet does not depend on the implementation: NATS servers (``NATSExchange``), or this process alone
/// (``LocalExchange``).
package protocol FleetExchange: Sendable {
    /// Starts to connect, and keeps trying.
    ///
    /// - Parameter report: called with each change of the connection, on any thread.
    func open(report: @escaping @Sendable (FleetConnection) -> Void) throws

    /// Ends the connection.
    func close()

    /// Creates the log and the entries' storage if they do not exist.
    ///
    /// - Parameter replicas: the number of servers that store each of them.
    /// - Returns: A warning for the operator, or nil.
    func prepare(replicas: Int) async throws -> String?

    /// Returns what the servers may lose, for the operator; nil if there are no servers.
    func serverNotice() async throws -> String?

    // MARK: Adverts

    /// Sends a receiver's adverts to the owner of a partition. It does not wait, and does not queue messages for later.
    func publish(_ message: [UInt8], to partition: Int, from relay: FleetRelay) throws

    /// Receives the messages sent to a partition.
    ///
    /// - Parameter receive: called with the relay and the message, in order, on any thread.
    /// - Returns: A handle that ends it.
    func listen(
        to partition: Int, receive: @escaping @Sendable (_ relay: FleetRelay, _ message: [UInt8]) -> Void
    ) throws -> any FleetSubscription

    // MARK: Entries

    /// Returns an entry; nil if it does not exist.
    func entry(_ key: FleetKey) async throws -> FleetEntry?

    /// Returns all entries of a kind.
    func entries(_ kind: FleetKey.Kind) async throws -> [FleetEntry]

    /// Writes an entry.
    ///
    /// - Parameters:
    ///   - value: the new value.
    ///   - key: the key.
    ///   - revision: the revision of the value to replace; zero if the entry must not exist; nil for any.
    /// - Returns: The new revision, greater than all earlier revisions.
    /// - Throws: ``FleetError`` with the code `conflict` if another machine has written the entry.
    func put(_ value: [UInt8], for key: FleetKey, replacing revision: UInt64?) async throws -> UInt64

    /// Removes an entry.
    func remove(_ key: FleetKey, at revision: UInt64) async throws

    // MARK: The log

    /// Appends a message to a partition's part of the log.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - partition: the partition.
    ///   - id: the message's id. A second message with this id is not appended; the result is the same as for the
    ///     first.
    ///   - sequence: the number of the last message of the partition; zero for none.
    /// - Returns: The message's number.
    /// - Throws: ``FleetError`` with the code `conflict` if another machine has appended a message after that one.
    func append(_ message: [UInt8], to partition: Int, id: String, after sequence: UInt64) async throws -> UInt64

    /// Returns the last message of a partition, or nil.
    func lastMessage(of partition: Int) async throws -> FleetMessage?

    /// Returns the first message at or after a number, or nil if it does not exist yet.
    ///
    /// - Parameter partition: the partition; nil for all.
    func message(from sequence: UInt64, of partition: Int?) async throws -> FleetMessage?

    /// Returns the number of the newest message; zero for an empty log.
    func lastSequence() async throws -> UInt64
}

/// A machine's advert source, as workers identify it.
package struct FleetRelay: Hashable, Sendable {
    /// The machine.
    package var node: String
    /// The source's number, from 2; nil for the machine's first source.
    package var source: Int?

    package init(node: String, source: Int? = nil) {
        (self.node, self.source) = (node, source)
    }

    /// The maximum number of sources of a machine, so that a machine with false source numbers cannot fill a table.
    package static let maximumSources = 32

    /// The separator between a machine's name and a source's number. Machine names do not contain it.
    package static let separator: Character = "#"

    /// The name of its receivers.
    package var name: String { source.map { "\(node)\(Self.separator)\($0)" } ?? node }
}

/// A subscription that lasts until it is canceled.
package protocol FleetSubscription: Sendable {
    func cancel()
}

/// A change of the connection to a fleet.
package enum FleetConnection: Hashable, Sendable {
    case connected
    /// The connection was lost and is being retried; the reason, in a sentence.
    case lost(String)
    /// The servers refuse a request whose failure is not reported otherwise; the request, in a sentence.
    case refused(String)
    /// Messages of a partition were dropped, because they arrived faster than they were processed.
    case dropped(partition: Int)
    /// The log may contain new messages.
    case logged
}

/// The name of an entry.
package enum FleetKey: Hashable, Sendable {
    /// A kind of entry.
    package enum Kind: String, Hashable, Sendable {
        case partition, duty, worker, member, region, holders, place, checkpoint, settings

        /// Whether entries of this kind expire unless they are renewed.
        package var expires: Bool { [.partition, .duty, .worker, .member].contains(self) }
    }

    /// The owner of a partition. It expires.
    case partition(Int)
    /// The machine that delivers. It expires.
    case delivery
    /// A live worker, by the id of its run. It expires.
    case worker(String)
    /// A machine's report about itself. It expires.
    case member(String)
    /// The known state of a region, by its owner's label.
    case region(String)
    /// The receivers that hold the regions of a partition inside.
    case holders(Int)
    /// The place of a beacon.
    case place(String)
    /// The number of the last log message that the entries of a partition include.
    case checkpoint(Int)
    /// The number of the last log message up to which all messages are delivered.
    case delivered
    /// The configuration of all machines.
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

/// An entry that all machines of a fleet can read.
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

/// A position in the log: the number of a message, and a digest of the message. After servers lost the log or its end,
/// another message can get the number.
package struct FleetPosition: Hashable, Sendable {
    package var sequence: UInt64
    /// nil if an earlier version stored the position, or the log had already removed the message because of its age.
    package var digest: UInt64?

    /// The position before the first message.
    package static let start = FleetPosition(sequence: 0)

    package init(sequence: UInt64, digest: UInt64? = nil) { (self.sequence, self.digest) = (sequence, digest) }

    /// Creates the position of a message.
    package init(_ message: FleetMessage) {
        self.init(sequence: message.sequence, digest: StableHash.fnv1a(message.value))
    }

    /// Reads the value of an entry; nil if it is not a position.
    package init?(_ value: [UInt8]) {
        let words = String(decoding: value, as: UTF8.self).split(separator: " ")
        guard let sequence = words.first.flatMap({ UInt64($0) }) else { return nil }
        self.init(sequence: sequence, digest: words.dropFirst().first.flatMap { UInt64($0, radix: 16) })
    }

    /// The position as the value of an entry.
    package var value: [UInt8] { Array("\(sequence)\(digest.map { " " + String($0, radix: 16) } ?? "")".utf8) }
}

extension FleetExchange {
    /// Returns whether the log contains the message of a position, or contained it until it was too old.
    package func contains(_ position: FleetPosition) async throws -> Bool {
        guard position.sequence > 0 else { return true }
        guard let message = try await message(from: position.sequence, of: nil) else {
            return try await lastSequence() >= position.sequence
        }
        // If the first message is a later one, the log has removed earlier ones because of their age.
        return message.sequence > position.sequence || position.digest == nil || FleetPosition(message) == position
    }
}

/// A failure of a fleet's exchange.
package struct FleetError: Error, Sendable, CustomStringConvertible {
    /// A kind of failure.
    package enum Code: Sendable {
        case conflict, unreachable, refused
    }

    package var code: Code
    /// The cause and the remedy.
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
    /// The time after which an entry that expires is removed. Replacing a leading server may take 8 s (measured with
    /// three servers of version 2.9.10). During that time no entry can be renewed.
    package static let lease = Duration.seconds(15)
    /// The interval at which leases are renewed.
    package static let renewal = Duration.seconds(3)
    /// The wait after a failed attempt.
    package static let retry = Duration.milliseconds(500)
    /// The time, in nanoseconds, after sending the last renewal at which an owner gives up ownership. It is shorter
    /// than the lease, so that an owner has stopped before the next one starts.
    package static let ownership = 12 * Timestamp.nanosecondsPerSecond
    /// The time, in nanoseconds, for which a receiver that holds a region inside may be silent after a takeover before
    /// it counts as deaf.
    package static let absence = 10 * Timestamp.nanosecondsPerSecond
}
