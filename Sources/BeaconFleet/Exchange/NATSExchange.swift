import BeaconModel
package import BeaconNATS
import BeaconSupport
import Foundation

/// A fleet's exchange over NATS servers: adverts as messages that are not stored, entries in two buckets, and the log
/// in a stream.
///
/// | what | where, for a fleet NAME |
/// |---|---|
/// | adverts | `beacons.NAME.heard.PARTITION.NODE`, and for its further sources `….NODE.SOURCE` |
/// | the log | the stream `beacons-NAME`, `beacons.NAME.log.PARTITION` |
/// | entries that expire | the bucket `beacons-NAME-leases` |
/// | other entries | the bucket `beacons-NAME-state` |
package final class NATSExchange: FleetExchange {
    /// The age at which log messages are removed. Delivery may pause for a week.
    private static let logAge = Duration.seconds(7 * 24 * 3600)

    /// The time during which a second message with the same id is recognized. An owner never repeats a message
    /// that late.
    private static let duplicateWindow = Duration.seconds(120)

    /// JetStream's error number for more than one replica on a single server.
    private static let notClustered = 10074

    /// The longest wait for an answer. A leading server that has died does not answer; another attempt may reach its
    /// successor.
    private static let patience = Duration.seconds(2)

    private let options: NATSSettings
    private let prefix: String
    private let streamName: String
    private let connection = Locked<NATSConnection?>(nil)
    private let listening = Locked<NATSSubscription?>(nil)

    /// Creates an exchange that is not connected.
    ///
    /// - Parameters:
    ///   - options: the servers.
    ///   - name: the fleet's name: letters, digits, hyphens and underscores, because stream names contain it.
    package init(_ options: NATSSettings, name: String) {
        self.options = options
        prefix = "beacons.\(name)"
        streamName = "beacons-\(name)"
    }

    private func connected() throws -> NATSConnection {
        guard let connection = connection.withLock({ $0 }) else { throw NATSError(.closed, "the connection is closed") }
        return connection
    }

    package func open(report: @escaping @Sendable (FleetConnection) -> Void) throws {
        let new = try NATSConnection(options) { event in
            switch event {
            case .connected: report(.connected)
            case .disconnected(let error): report(.lost(error.map { "\($0)" } ?? "the server closed it"))
            case .failed(let error): report(.lost("\(error)"))
            case .dropped(let subject):
                report(.dropped(partition: subject.split(separator: ".").dropFirst(3).first.flatMap { Int($0) } ?? -1))
            case .refused(let error): report(.refused("\(error)"))
            case .closed: break
            }
        }
        connection.withLock { $0 = new }
        // The server also sends each message that is appended to the log.
        let subscription = try new.subscribe("\(prefix).log.*") { _ in report(.logged) }
        listening.withLock { $0 = subscription }
    }

    package func close() {
        listening.withLock { $0 }?.cancel()
        connection.withLock { connection in
            defer { connection = nil }
            return connection
        }?.close()
    }

    package func prepare(replicas: Int) async throws -> String? {
        try await translating {
            do {
                try await make(replicas: replicas)
                return nil
            } catch let error as NATSError where error.code == .tooFewServers && replicas > 1 {
                // A cluster that is still starting gives the same answer and is asked again.
                guard error.number == Self.notClustered else {
                    throw NATSError(
                        .tooFewServers,
                        "fewer than \(replicas) NATS servers are running; start them, or write \"replicas: 1\"",
                        cause: error)
                }
                try await make(replicas: 1)
                return
                    "only one NATS server stores the fleet's state: while it is down, no changes are detected; if its disk is lost, the state is lost"
            }
        }
    }

    package func serverNotice() async throws -> String? {
        let safe = "\"sync_interval: always\" in its jetstream settings"
        guard let version = try await translating({ try await log().serverVersion() }) else {
            return
                "the NATS server is older than 2.10 and cannot write each change to the disk at once: a crash can lose the changes of two minutes. If no event may be lost, install a newer one with \(safe); see docs/fleet.md"
        }
        return
            "the NATS server has version \(version): a crash can lose the changes of two minutes, unless it has \(safe). beacond cannot read these settings; see docs/fleet.md"
    }

    private func make(replicas: Int) async throws {
        try await leases().create(timeToLive: FleetTiming.lease, replicas: replicas)
        try await state().create(timeToLive: nil, replicas: replicas)
        try await log().create(
            .init(
                name: streamName, subjects: ["\(prefix).log.*"], maximumAge: Self.logAge, replicas: replicas,
                duplicateWindow: Self.duplicateWindow))
    }

    private func leases() throws -> KeyValueBucket {
        KeyValueBucket(try connected(), bucket: "\(streamName)-leases", timeout: Self.patience)
    }

    private func state() throws -> KeyValueBucket {
        KeyValueBucket(try connected(), bucket: "\(streamName)-state", timeout: Self.patience)
    }

    private func log() throws -> EventLog { EventLog(try connected(), name: streamName, timeout: Self.patience) }

    private func bucket(_ kind: FleetKey.Kind) throws -> KeyValueBucket { try kind.expires ? leases() : state() }

    /// Calls a function, and converts its NATS errors to fleet errors.
    private func translating<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as NATSError {
            let code: FleetError.Code =
                switch error.code {
                case .wrongLastSequence: .conflict
                case .notConnected, .timedOut, .noResponders, .unreachable, .unavailable, .tooFewServers: .unreachable
                default: .refused
                }
            throw FleetError(code, error.message, cause: error)
        }
    }

    // MARK: - Adverts

    package func publish(_ message: [UInt8], to partition: Int, from relay: FleetRelay) throws {
        let source = relay.source.map { ".\($0)" } ?? ""
        try connected().publish(
            message, to: "\(prefix).heard.\(partition).\(NATSName.escape(relay.node))\(source)")
    }

    private struct Listening: FleetSubscription {
        let subscription: NATSSubscription

        func cancel() { subscription.cancel() }
    }

    package func listen(
        to partition: Int, receive: @escaping @Sendable (FleetRelay, [UInt8]) -> Void
    ) throws -> any FleetSubscription {
        Listening(
            subscription: try connected().subscribe("\(prefix).heard.\(partition).>") { message in
                let tokens = message.subject.split(separator: ".").dropFirst(4).map(String.init)
                guard let node = tokens.first.flatMap(NATSName.unescape), tokens.count <= 2,
                    node.utf8.count <= FleetSettings.longestNode, !node.contains(FleetRelay.separator)
                else { return }
                let source = tokens.count == 2 ? Int(tokens[1]) : nil
                guard tokens.count == 1 || (2...FleetRelay.maximumSources).contains(source ?? 0) else { return }
                receive(FleetRelay(node: node, source: source), message.payload)
            })
    }

    // MARK: - Entries

    package func entry(_ key: FleetKey) async throws -> FleetEntry? {
        try await translating {
            try await bucket(key.kind).get(key.text).map {
                FleetEntry(name: key.name, value: $0.value, revision: $0.revision)
            }
        }
    }

    package func entries(_ kind: FleetKey.Kind) async throws -> [FleetEntry] {
        try await translating {
            try await bucket(kind).entries(under: kind.rawValue).map {
                FleetEntry(
                    name: NATSName.unescape(String($0.key.dropFirst(kind.rawValue.count + 1))) ?? $0.key,
                    value: $0.value,
                    revision: $0.revision)
            }
        }
    }

    package func put(_ value: [UInt8], for key: FleetKey, replacing revision: UInt64?) async throws -> UInt64 {
        try await translating {
            let bucket = try bucket(key.kind)
            guard let revision else { return try await bucket.put(value, for: key.text) }
            guard revision > 0 else { return try await bucket.add(value, for: key.text) }
            return try await bucket.replace(value, for: key.text, at: revision)
        }
    }

    package func remove(_ key: FleetKey, at revision: UInt64) async throws {
        try await translating { try await bucket(key.kind).remove(key.text, at: revision) }
    }

    // MARK: - The log

    package func append(_ message: [UInt8], to partition: Int, id: String, after sequence: UInt64) async throws
        -> UInt64
    {
        try await translating {
            try await log().append(message, to: "\(prefix).log.\(partition)", id: id, after: sequence).sequence
        }
    }

    package func lastMessage(of partition: Int) async throws -> FleetMessage? {
        try await translating {
            try await log().last(of: "\(prefix).log.\(partition)").map {
                FleetMessage(sequence: $0.sequence, value: $0.payload)
            }
        }
    }

    package func message(from sequence: UInt64, of partition: Int?) async throws -> FleetMessage? {
        let filter = "\(prefix).log.\(partition.map { "\($0)" } ?? "*")"
        return try await translating {
            try await log().next(of: filter, from: sequence).map {
                FleetMessage(sequence: $0.sequence, value: $0.payload)
            }
        }
    }

    package func lastSequence() async throws -> UInt64 { try await translating { try await log().lastSequence() } }
}

extension FleetKey {
    /// The key in its bucket.
    fileprivate var text: String { "\(kind.rawValue).\(NATSName.escape(name))" }
}
