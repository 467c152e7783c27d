package import BeaconModel
import BeaconSupport

/// A fleet's exchange within one process: for a fleet of one machine, and for tests that control the time.
package final class LocalExchange: FleetExchange {
    /// The part of an exchange that outlives the machines of a fleet.
    package final class Hub: Sendable {
        struct Stored {
            var value: [UInt8]
            var revision: UInt64
            var written: Timestamp
        }

        struct State {
            var entries: [FleetKey.Kind: [String: Stored]] = [:]
            var revision: UInt64 = 0
            var log: [(partition: Int, id: String, value: [UInt8])] = []
            /// The number of the last message of each partition.
            var last: [Int: UInt64] = [:]
            var ids: [String: UInt64] = [:]
            var listeners: [Int: (partition: Int, receive: @Sendable (FleetRelay, [UInt8]) -> Void)] = [:]
            var reports: [Int: @Sendable (FleetConnection) -> Void] = [:]
            var next = 0
        }

        let state = Locked(State())
        fileprivate let now: @Sendable () -> Timestamp

        /// Creates a hub whose entries expire by a clock.
        package init(now: @escaping @Sendable () -> Timestamp) { self.now = now }
    }

    private let hub: Hub
    private let number: Int
    /// Whether this machine is connected to the others.
    private let isLinked = Locked(true)

    /// Creates a machine's connection to a hub.
    package init(_ hub: Hub) {
        self.hub = hub
        number = hub.state.withLock { state in
            state.next += 1
            return state.next
        }
    }

    package func open(report: @escaping @Sendable (FleetConnection) -> Void) {
        hub.state.withLock { $0.reports[number] = report }
        report(.connected)
    }

    package func close() {
        _ = hub.state.withLock { $0.reports.removeValue(forKey: number) }
    }

    /// Disconnects the machine, or connects it again.
    package func setLinked(_ linked: Bool) {
        isLinked.withLock { $0 = linked }
        let report = hub.state.withLock { $0.reports[number] }
        report?(linked ? .connected : .lost("it was cut off"))
    }

    private func check() throws {
        guard isLinked.withLock({ $0 }) else {
            throw FleetError(.unreachable, "this machine is cut off from the fleet")
        }
    }

    package func prepare(replicas: Int) throws -> String? {
        try check()
        return nil
    }

    package func serverNotice() -> String? { nil }

    // MARK: - Adverts

    package func publish(_ message: [UInt8], to partition: Int, from relay: FleetRelay) throws {
        try check()
        let receivers = hub.state.withLock { state in
            state.listeners.sorted { $0.key < $1.key }.map(\.value).filter { $0.partition == partition }
        }
        for receiver in receivers { receiver.receive(relay, message) }
    }

    private struct Listening: FleetSubscription {
        let hub: Hub
        let number: Int

        func cancel() { hub.state.withLock { $0.listeners[number] = nil } }
    }

    package func listen(
        to partition: Int, receive: @escaping @Sendable (FleetRelay, [UInt8]) -> Void
    ) throws -> any FleetSubscription {
        try check()
        let linked = isLinked
        let number = hub.state.withLock { state in
            state.next += 1
            state.listeners[state.next] = (
                partition, { @Sendable relay, message in if linked.withLock({ $0 }) { receive(relay, message) } }
            )
            return state.next
        }
        return Listening(hub: hub, number: number)
    }

    // MARK: - Entries

    package func entry(_ key: FleetKey) throws -> FleetEntry? {
        try check()
        return hub.state.withLock { stored(key, in: &$0) }.map {
            FleetEntry(name: key.name, value: $0.value, revision: $0.revision)
        }
    }

    private func stored(_ key: FleetKey, in state: inout Hub.State) -> Hub.Stored? {
        guard let stored = state.entries[key.kind]?[key.name] else { return nil }
        guard key.kind.expires, hub.now().since(stored.written) >= Int64(FleetTiming.lease / .nanoseconds(1)) else {
            return stored
        }
        state.entries[key.kind]?[key.name] = nil
        return nil
    }

    package func entries(_ kind: FleetKey.Kind) throws -> [FleetEntry] {
        try check()
        let now = hub.now()
        return hub.state.withLock { state in
            (state.entries[kind] ?? [:]).filter {
                !kind.expires || now.since($0.value.written) < Int64(FleetTiming.lease / .nanoseconds(1))
            }
            .map { FleetEntry(name: $0.key, value: $0.value.value, revision: $0.value.revision) }
            .sorted { $0.name < $1.name }
        }
    }

    package func put(_ value: [UInt8], for key: FleetKey, replacing revision: UInt64?) throws -> UInt64 {
        try check()
        let now = hub.now()
        return try hub.state.withLock { state in
            let before = stored(key, in: &state)?.revision ?? 0
            guard revision == nil || revision == before else {
                throw FleetError(.conflict, "another machine has written \(key.name)")
            }
            state.revision += 1
            state.entries[key.kind, default: [:]][key.name] = .init(
                value: value, revision: state.revision, written: now)
            return state.revision
        }
    }

    package func remove(_ key: FleetKey, at revision: UInt64) throws {
        try check()
        try hub.state.withLock { state in
            guard stored(key, in: &state)?.revision == revision else {
                throw FleetError(.conflict, "another machine has written \(key.name)")
            }
            state.entries[key.kind]?[key.name] = nil
        }
    }

    // MARK: - The log

    package func append(_ message: [UInt8], to partition: Int, id: String, after sequence: UInt64) throws -> UInt64 {
        try check()
        let (number, reports) = try hub.state.withLock { state in
            if let known = state.ids[id] { return (known, [@Sendable (FleetConnection) -> Void]()) }
            guard state.last[partition] ?? 0 == sequence else {
                throw FleetError(.conflict, "another machine has written to partition \(partition)")
            }
            state.log.append((partition, id, message))
            let number = UInt64(state.log.count)
            state.last[partition] = number
            state.ids[id] = number
            return (number, Array(state.reports.values))
        }
        for report in reports { report(.logged) }
        return number
    }

    package func lastMessage(of partition: Int) throws -> FleetMessage? {
        try check()
        return hub.state.withLock { state in
            state.last[partition].map { FleetMessage(sequence: $0, value: state.log[Int($0) - 1].value) }
        }
    }

    package func message(from sequence: UInt64, of partition: Int?) throws -> FleetMessage? {
        try check()
        return hub.state.withLock { state in
            let first = max(1, Int(clamping: sequence))
            guard first <= state.log.count else { return nil }
            let index = state.log[(first - 1)...].firstIndex { partition == nil || $0.partition == partition }
            return index.map { FleetMessage(sequence: UInt64($0 + 1), value: state.log[$0].value) }
        }
    }

    package func lastSequence() throws -> UInt64 {
        try check()
        return hub.state.withLock { UInt64($0.log.count) }
    }
}
