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
                    if !isMore { await history.forRules.arrivals.wait(after: seen) }
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
        guard let batch = try await history.forRules.available(limit: Self.chunk) else { return false }
        let events = batch.events.compactMap(RecordedEvent.init)
        if await !engine.hasReplayed { try await replay(until: batch.from) }
        var people = try await people.people(of: events.map(\.notification))
        let now = history.store.wallTime
        let configuration = await gateway.configuration
        let senders = events.map { people.receive($0.notification, at: now) }
        let (result, reviewed) = await engine.reviewed { active in
            var result = Result(now: now, newestBefore: newestBefore)
            for (event, install) in zip(events, senders) { result.decide(event, install, configuration, &active) }
            return result
        }
        let installs = people.changed
        var step = try engine.step(for: result.work)
        step.changes += try installs.flatMap(StoredPeople.changes(saving:))
        step.changes += try result.messages.map(StoredPeople.change(adding:))
        step.commit(batch)
        let receipts = events.compactMap { MessageReceipt($0.notification) }
        if !receipts.isEmpty {
            // In the transaction, since apps take messages at the same time.
            step.decision = { state, step in step.changes += try StoredPeople.changes(noting: receipts, in: state) }
        }
        try await history.store.append(step)
        if !result.messages.isEmpty { self.people.newMessages.signal() }
        var changed: Set<EventBroadcast.Topic> = installs.isEmpty ? [] : [.installs]
        if !result.work.isEmpty { changed.insert(.rules) }
        if !changed.isEmpty { broadcast.send(.changed(changed)) }
        await engine.apply(reviewed, starting: result.lines)
        return true
    }

    private func newestEventBefore() async throws -> Int64 {
        if let number = newestBefore.withLock({ $0 }) { return number }
        let number = try await history.store.newest()
        newestBefore.withLock { $0 = number }
        return number
    }

    /// Replays events from before the start to the rules, so that visits continue across a restart.
    private func replay(until position: Int64) async throws {
        let configuration = await gateway.configuration
        var number: Int64 = 0
        while number < position, engine.needsRanging {
            let (events, last) = try await history.events(after: number)
            guard let last else { break }
            let decoded = events.filter { $0.number <= position && $0.event.sender != nil }
                .compactMap(RecordedEvent.init)
            let (_, reviewed) = await engine.reviewed { active in
                for event in decoded {
                    for index in active.indices {
                        _ = active[index].occurrences(of: event.notification, in: configuration)
                    }
                }
            }
            await engine.apply(reviewed, starting: [])
            number = last
        }
        await engine.setReplayed()
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

        init(now: Timestamp, newestBefore: Int64) { (self.now, self.newestBefore) = (now, newestBefore) }

        /// Returns how late an event became known.
        private func lateness(of event: RecordedEvent, as occurrence: RuleOccurrence) -> Duration {
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
        mutating func decide(
            _ event: RecordedEvent, _ install: Install?, _ configuration: GatewayConfiguration,
            _ active: inout [ActiveRule]
        ) {
            for index in active.indices {
                let found = active[index].occurrences(of: event.notification, event.stored.number, in: configuration)
                for var occurrence in found
                where active[index].rule.concerns(occurrence.with(install)) {
                    occurrence = occurrence.with(install)
                    occurrence.lateness = lateness(of: event, as: occurrence)
                    var work = active[index].decide(
                        occurrence, named: configuration.beacons.map(\.identity), ids: &ids)
                    let rule = active[index].rule
                    if work.ran {
                        if let message = rule.message, let install {
                            let beacon = configuration.beacons.first { $0.identity == event.notification.beacon }
                            let content = message.filled(Rule.placeholders(of: occurrence, title: beacon?.name))
                            let name = EventID(rule: rule.name, number: event.stored.number, of: occurrence)
                            // One nanosecond apart, so that they keep their order.
                            let time = now.advanced(by: Int64(messages.count))
                            messages.append(
                                InstallMessage(
                                    id: "\(name)", install: install.id, user: occurrence.notification.person,
                                    time: time, content: content, rule: rule.name))
                            if !work.runs.isEmpty { work.runs[0].detail = content.text }
                        }
                        if rule.target != nil {
                            lines.append((rule.run(for: occurrence), event.stored.event.line(of: event.notification)))
                        }
                    }
                    self.work.append(work)
                }
            }
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

extension RuleOccurrence {
    /// Returns the occurrence with its sender.
    package func with(_ install: Install?) -> RuleOccurrence {
        guard let install else { return self }
        var result = self
        result.notification.install = install.id
        result.notification.person = result.notification.person ?? install.user
        result.attributes = install.attributes
        return result
    }
}

extension ActiveRule {
    /// Returns the occurrences of a rule that an event of the history means.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - number: its number in the history.
    ///   - configuration: the configuration, for its regions and the places of its beacons.
    package mutating func occurrences(
        of event: BeaconNotification, _ number: Int64? = nil, in configuration: GatewayConfiguration
    ) -> [RuleOccurrence] {
        let own = Set([event.region?.name].compactMap { $0 })
        var (regions, place) = (own, event.place)
        if let beacon = event.beacon {
            for region in configuration.regions where region.region.constraint.matches(beacon) {
                regions.insert(region.name)
            }
            if event.kind != .place {
                place = configuration.beacons.first { $0.identity == beacon }?.place ?? place
            }
        }
        func occurrence(_ kind: RuleEvent, at time: Timestamp) -> RuleOccurrence {
            RuleOccurrence(
                event: kind, time: time, notification: event,
                regions: kind == .enter || kind == .exit ? own : regions, place: place, number: number)
        }
        switch event.kind {
        case .enter: return [occurrence(.enter, at: event.time)]
        case .exit: return [occurrence(.exit, at: event.time)]
        case .suspicious: return [occurrence(.suspicious, at: event.time)]
        case .place:
            // Losing sight of a beacon, or finding it in the same place again, is no change.
            let isChange = event.state != .unknown && event.place != event.before
            return isChange ? [occurrence(.place, at: event.time)] : []
        case .proximity, .gone:
            guard let beacon = event.beacon, rule.concerns(beacon, of: regions) else { return [] }
            let proximity = event.kind == .gone ? nil : event.proximity
            if event.kind == .proximity, proximity == nil { return [] }
            let matches =
                event.sender == nil
                ? updateNearest(beacon, proximity, event.receiver ?? "", at: event.time)
                : reported.receive(
                    ProximityChange(beacon, .init(proximity), at: event.time, lasts: event.install == nil),
                    of: "\(event.sender ?? ""): \(event.install ?? event.receiver ?? "")")
            return matches.compactMap { match in RuleEvent(match.condition).map { occurrence($0, at: match.time) } }
        default: return []
        }
    }

    /// Returns the proximity matches of a change that this machine notified of. The nearest of several receivers
    /// counts.
    private mutating func updateNearest(
        _ beacon: BeaconIdentity, _ proximity: Proximity?, _ receiver: String, at time: Timestamp
    ) -> [ProximityMatch] {
        notified[beacon, default: [:]][receiver] = proximity
        let nearest = notified[beacon]?.values.max { $0.rank < $1.rank }
        if nearest == nil { notified[beacon] = nil }
        // Receivers report every second.
        let before = time.advanced(by: -Timestamp.nanosecondsPerSecond)
        return heard.receive(ProximityChange(beacon, .init(nearest), at: time, heldUntil: before))
    }
}

extension ProximityChange.State {
    /// Creates the state of a beacon at a proximity; nil means that the beacon is gone.
    fileprivate init(_ proximity: Proximity?) { self = proximity.map { .at($0) } ?? .gone }
}
