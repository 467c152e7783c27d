package import BeaconDelivery
import BeaconEngine
package import BeaconEventStore
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation
package import Logging
import ServiceLifecycle

/// The service that applies the rules to stored events, and keeps the installs and users that sent them.
///
/// It handles each event exactly once, even if the process dies: one transaction stores the effects and the consumer's
/// progress. Programs start after that.
package struct RuleConsumer: Service {
    /// The number of events to handle at once.
    private static let chunk = 200
    /// The time that an event has to be stored after its arrival, before a waiting run counts as over without it.
    fileprivate static let patience = Duration.seconds(1)

    package let history: EventHistory
    let people: StoredPeople
    let engine: RuleEngine
    let gateway: Gateway
    let broadcast: EventBroadcast
    let logger: Logger
    /// The reason why rules cannot process events; nil while they can.
    private let fault = Locked<String?>(nil)
    /// True until the programs of events that are stored as handled have started.
    private let isWorking = Locked(false)
    /// The number of the newest event from before the start. That event may be old.
    private let newestBefore = Locked<Int64?>(nil)

    package init(
        history: EventHistory, people: StoredPeople, engine: RuleEngine, gateway: Gateway, broadcast: EventBroadcast,
        logger: Logger
    ) {
        (self.history, self.people, self.engine, self.gateway) = (history, people, engine, gateway)
        (self.broadcast, self.logger) = (broadcast, logger)
    }

    /// The rules with their state.
    package var rules: [ActiveRule] { get async { await engine.active } }

    /// The reason why rules cannot process events; nil while they can.
    package var failure: String? { fault.withLock { $0 } }

    func run() async {
        await cancelWhenGracefulShutdown {
            do {
                try await people.forgetOrphans()
            } catch {
                logger.debug("cannot remove users and messages of deleted installs until the next start: \(error)")
            }
            while !Task.isCancelled {
                // Read before the query, so that an event that arrives after the query ends the wait.
                let seen = history.forRules.arrivals.count
                do {
                    let isMore = try await work()
                    if setFailure(nil) != nil { logger.notice("rules process events again") }
                    if !isMore { await wait(after: seen) }
                } catch {
                    if Task.isCancelled { return }
                    if setFailure("\(error)") == nil {
                        logger.error("rules cannot process events: \(error); trying again")
                    }
                    try? await Task.sleep(for: RuleEngine.pause)
                }
            }
        }
    }

    /// Waits for the next event, or for the end of a waiting run's time.
    private func wait(after seen: Int) async {
        let arrivals = history.forRules.arrivals
        guard let due = await engine.nextRelease else { return await arrivals.wait(after: seen) }
        let left = Duration.nanoseconds(max(0, due.since(history.store.wallTime))) + Self.patience
        // At most a minute, since the clock may be set.
        await arrivals.wait(after: seen, atMost: min(left + .milliseconds(10), .seconds(60)))
    }

    /// Stores the reason why rules cannot process events.
    ///
    /// - Returns: the previous reason.
    private func setFailure(_ failure: String?) -> String? {
        fault.withLock { before in
            defer { before = failure }
            return before
        }
    }

    /// Waits until rules have processed all events or cannot, for a minute at most.
    package func finish(within time: Duration = .seconds(60)) async {
        let end = ContinuousClock.now + time
        while failure == nil, !Task.isCancelled, ContinuousClock.now < end {
            guard let status = try? await history.forRules.status() else { return }
            // In this order, since an event stops waiting before its program starts.
            guard status.waiting > 0 || isWorking.withLock({ $0 }) else { return }
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Handles the oldest waiting events.
    ///
    /// - Returns: false if no event waits.
    package func work() async throws -> Bool {
        isWorking.withLock { $0 = true }
        defer { isWorking.withLock { $0 = false } }
        let newestBefore = try await newestEventBefore()
        // Read before the query, so that no event that has arrived by then is missing.
        let now = history.store.wallTime
        let batch = try await history.forRules.available(limit: Self.chunk)
        let configuration = await gateway.configuration
        guard let batch else {
            guard let due = await engine.nextRelease, due < now.advanced(by: -Self.patience.clampedNanoseconds) else {
                return false
            }
            let newest = try await history.store.newest()
            // Rules have processed the newest event, unless it has just arrived.
            guard try await history.forRules.available(limit: 1) == nil else { return true }
            try await remember(until: newest)
            let (result, reviewed) = await engine.reviewed { active in
                var result = Result(now: now, newestBefore: newestBefore, in: configuration)
                result.release(&active)
                return result
            }
            try await keep(result, try engine.step(for: result.work), reviewed)
            return true
        }
        let events = batch.events.compactMap(RecordedEvent.init)
        try await remember(until: batch.from)
        var people = try await people.people(of: events.map(\.notification))
        let senders = events.map { people.receive($0.notification, at: now) }
        let (result, reviewed) = await engine.reviewed { active in
            var result = Result(now: now, newestBefore: newestBefore, in: configuration)
            for (event, install) in zip(events, senders) { result.decide(event, install, &active) }
            return result
        }
        let installs = people.changed
        var step = try engine.step(for: result.work)
        step.changes += try installs.flatMap(StoredPeople.changes(saving:))
        step.commit(batch)
        let receipts = events.compactMap { MessageReceipt($0.notification) }
        if !receipts.isEmpty {
            // In the transaction, since apps take messages at the same time.
            step.decision = { state, step in step.changes += try StoredPeople.changes(noting: receipts, in: state) }
        }
        try await keep(result, step, reviewed, changed: installs.isEmpty ? [] : [.installs])
        return true
    }

    /// Stores the effects of decisions in one transaction. After that, it keeps the state of the rules and starts their
    /// programs.
    private func keep(
        _ result: Result, _ step: Step, _ reviewed: [ActiveRule], changed: Set<EventBroadcast.Topic> = []
    ) async throws {
        var (step, changed) = (step, changed)
        step.changes += try result.messages.map(StoredPeople.change(adding:))
        try await history.store.append(step)
        if !result.messages.isEmpty { people.newMessages.signal() }
        if !result.work.isEmpty { changed.insert(.rules) }
        if !changed.isEmpty { broadcast.send(.changed(changed)) }
        await engine.apply(reviewed, result.work, starting: result.lines)
    }

    private func newestEventBefore() async throws -> Int64 {
        if let number = newestBefore.withLock({ $0 }) { return number }
        let number = try await history.store.newest()
        newestBefore.withLock { $0 = number }
        return number
    }

    /// Lets rules know what they need of the events that they have processed.
    private func remember(until position: Int64) async throws {
        if await !engine.hasReplayed { try await replay(until: position) }
        try await recall(until: position)
    }

    /// Replays events from before the start to the rules, so that visits continue across a restart.
    private func replay(until position: Int64) async throws {
        let configuration = await gateway.configuration
        let rules = Set(await engine.active.map(\.number))
        if engine.needsHistory {
            try await readHistory(until: position) { event, active in
                for index in active.indices where rules.contains(active[index].number) {
                    active[index].recall(event, in: configuration)
                    if active[index].isEnabled { _ = active[index].occurrences(of: event, in: configuration) }
                }
            }
        }
        await engine.setReplayed(to: rules)
    }

    /// Lets rules that were added or changed know the sightings of the history.
    private func recall(until position: Int64) async throws {
        let rules = Set(await engine.active.filter(\.needsHistory).map(\.number))
        guard !rules.isEmpty else { return }
        let configuration = await gateway.configuration
        try await readHistory(until: position) { event, active in
            for index in active.indices where rules.contains(active[index].number) {
                active[index].recall(event, in: configuration)
            }
        }
        await engine.setReplayed(to: rules)
    }

    /// Reads the events of apps and other gateways up to a position.
    private func readHistory(
        until position: Int64,
        _ read: @escaping @Sendable (BeaconNotification, inout [ActiveRule]) -> Void
    ) async throws {
        var number: Int64 = 0
        while number < position {
            let (events, last) = try await history.events(after: number)
            guard let last else { break }
            let decoded = events.filter { $0.number <= position && $0.event.sender != nil }
                .compactMap(RecordedEvent.init)
            let (_, reviewed) = await engine.reviewed { active in
                for event in decoded { read(event.notification, &active) }
            }
            await engine.apply(reviewed)
            number = last
        }
    }
}

extension RuleConsumer {
    /// The actions of rules for a batch of events.
    struct Result: Sendable {
        var work: [ActiveRule.Work] = []
        var messages: [InstallMessage] = []
        var lines: [(run: RuleRun, json: [UInt8])] = []
        private var ids = EventIDs()
        private let now: Timestamp
        private let newestBefore: Int64
        private let configuration: GatewayConfiguration

        init(now: Timestamp, newestBefore: Int64, in configuration: GatewayConfiguration) {
            (self.now, self.newestBefore, self.configuration) = (now, newestBefore, configuration)
        }

        /// Returns how late an event became known.
        private static func lateness(
            of event: RecordedEvent, as occurrence: RuleOccurrence, _ now: Timestamp, _ newestBefore: Int64
        ) -> Duration {
            // A stay began earlier than the report of it; the time of the report counts.
            var since = max(occurrence.time, event.notification.time)
            if event.notification.sender == nil {
                // Events of this machine are known at once, whatever the clocks show, unless beacond ended before the
                // rules processed them.
                guard event.stored.number <= newestBefore else { return .zero }
                since = event.stored.arrival
            }
            return .nanoseconds(max(0, now.since(since)))
        }

        /// Decides what rules do for an event.
        mutating func decide(_ event: RecordedEvent, _ install: Install?, _ active: inout [ActiveRule]) {
            let (now, newestBefore, configuration) = (now, newestBefore, configuration)
            for index in active.indices {
                let decisions = active[index].receive(
                    event.notification, event.stored, from: install, now: now, in: configuration, ids: &ids
                ) { Self.lateness(of: event, as: $0, now, newestBefore) }
                for decision in decisions { add(decision, of: active[index].rule) }
            }
        }

        /// Decides about waiting runs whose time was over some time ago.
        mutating func release(_ active: inout [ActiveRule]) {
            let end = now.advanced(by: -RuleConsumer.patience.clampedNanoseconds)
            let (now, configuration) = (now, configuration)
            for index in active.indices {
                let decisions = active[index].release(
                    here: false, now: now, named: configuration.beacons.map(\.identity), ids: &ids
                ) { $0 < end }
                for decision in decisions { add(decision, of: active[index].rule) }
            }
        }

        private mutating func add(_ decision: RuleDecision, of rule: Rule) {
            let occurrence = decision.occurrence
            var work = decision.work
            if work.ran {
                if let message = rule.message, let install = occurrence.notification.install,
                    let number = occurrence.number
                {
                    let beacon = configuration.beacons.first { $0.identity == occurrence.notification.beacon }
                    let content = message.filled(Rule.placeholders(of: occurrence, title: beacon?.name))
                    let name = EventID(rule: rule.name, number: number, of: occurrence)
                    // One nanosecond apart, so that they keep their order.
                    let time = now.advanced(by: Int64(messages.count))
                    messages.append(
                        InstallMessage(
                            id: "\(name)", install: install, user: occurrence.notification.person, time: time,
                            content: content, rule: rule.name))
                    if !work.runs.isEmpty { work.runs[0].detail = content.text }
                }
                if let line = work.line { lines.append((rule.run(for: occurrence, .program), line)) }
            }
            self.work.append(work)
        }
    }
}

/// An event of the history, decoded for rules.
package struct RecordedEvent: Sendable {
    package let stored: StoredEvent
    /// The event. A trial moves its time.
    package var notification: BeaconNotification

    /// Decodes a stored event; nil if its body is not a notification.
    package init?(_ stored: StoredEvent) {
        guard let notification = BeaconNotification(decoding: stored.event) else { return nil }
        (self.stored, self.notification) = (stored, notification)
    }
}
