import BeaconDelivery
import BeaconEventStore
import BeaconGateway
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation
import HTTPTypes
import Hummingbird

/// A rule with the counts of its runs.
struct RuleValue: Encodable, Sendable {
    var name: String
    var events: [String]
    @Nullable var regions: [String]?
    @Nullable var places: [String]?
    @Nullable var beacons: [String]?
    /// The action as text.
    var runs: String
    var started: Int
    var failed: Int
    var withheld: Int
    @Nullable var last: Double?
    var enabled: Bool
    /// The reason why its program cannot run, or why it failed the last time.
    @Nullable var fault: String?
    var origin: String
    var settings: JSONValue
}

/// The routes of the rules, their runs and trials.
struct RuleRoutes: Sendable {
    let gateway: Gateway
    let rules: RuleEngine
    let state: GatewayState
    let history: EventHistory
    let broadcast: EventBroadcast
    let changes: ItemChanges

    private struct Rules: Encodable, Sendable {
        var rules: [RuleValue]
        var unused: [UnusedItemValue]
    }

    private struct SwitchRequest: Decodable, Sendable {
        var enabled: Bool
    }

    private struct TrialRequest: Decodable, Sendable {
        var rule: JSONValue
        var from: Double?
        var to: Double?
    }

    private struct TrialValue: Encodable, Sendable {
        struct Run: Encodable, Sendable {
            var time: Double
            @Nullable var event: Int64?
            var summary: String
            @Nullable var person: String?
            var reason: String?
        }

        struct Unknown: Encodable, Sendable {
            var event: String
            var reason: String
        }

        var events: Int
        @Nullable var from: Double?
        var runs: [Run]
        var withheld: [Run]
        var unknown: [Unknown]
    }

    private struct RuleRunValue: Encodable, Sendable {
        var id: String
        var time: Double
        var rule: String
        @Nullable var event: Int64?
        var summary: String
        @Nullable var person: String?
        var action: String
        var outcome: String
        @Nullable var detail: String?
    }

    private struct RuleRuns: Encodable, Sendable {
        var runs: [RuleRunValue]
        @Nullable var next: String?
    }

    func add(to router: RouterGroup<WebContext>) {
        router.on(.get, "rules") { _, _ in
            Rules(rules: await ruleValues(), unused: await gateway.configuration.unusedItems(.rule))
        }
        changes.add(of: .rule, at: "rules", to: router) { name in
            await ruleValues().first { $0.name == name }
        }
        router.on(.put, "rules/{name}/enabled") { request, context in
            let name = try context.name("name")
            let isOn = try await request.value(of: SwitchRequest.self).enabled
            guard try await rules.set(name, isOn: isOn),
                let value = await ruleValues().first(where: { $0.name == name })
            else { throw Problem(.notFound, "unknown rule") }
            await gateway.recordRules()
            broadcast.send(.changed([.rules]))
            return value
        }
        router.on(.post, "rules/try") { request, _ in
            try await tried(try await request.value(of: TrialRequest.self))
        }
        router.on(.get, "rules/runs") { request, _ in
            let limit = try request.number("limit", 1...500) ?? 100
            let before = request.parameter("before")
            guard before.map({ EventID($0) != nil }) ?? true else {
                throw Problem(.badRequest, "\"before\" must be the value of \"next\" in an earlier answer")
            }
            let (runs, next) = try await state.trail.runs(
                of: request.parameter("rule"), before: before, limit: limit)
            return RuleRuns(
                runs: runs.map { run in
                    RuleRunValue(
                        id: run.id ?? "", time: run.time.seconds, rule: run.rule, event: run.event,
                        summary: run.summary, person: run.person, action: run.action,
                        outcome: run.outcome.rawValue, detail: run.detail)
                }, next: next)
        }
    }

    private func ruleValues() async -> [RuleValue] {
        let names = await gateway.names
        let items = await gateway.configuration.itemsInUse(.rule)
        var values: [RuleValue] = []
        for one in await rules.active {
            let (rule, counts) = (one.rule, one.runner?.counts)
            let (origin, settings) = items[rule.name].shown(rule.name)
            let last = [one.counts.last, one.runner?.lastStart].compactMap { $0 }.max()
            values.append(
                RuleValue(
                    name: rule.name, events: rule.events.map(\.description).sorted(), regions: rule.regions?.sorted(),
                    places: rule.places?.sorted(),
                    beacons: rule.beacons?.map { names[$0] ?? $0.description }.sorted(), runs: rule.actionText,
                    started: one.counts.ran, failed: counts?.failed ?? 0, withheld: one.counts.withheld,
                    last: last?.timeIntervalSince1970, enabled: one.isEnabled,
                    fault: one.runner?.trouble, origin: origin, settings: settings))
        }
        return values
    }

    // MARK: - Trials

    /// The largest number of events that a trial examines, and the largest number of runs of each kind in its answer.
    private static let maximumTried = 100_000
    private static let maximumShown = 200

    private func tried(_ trial: TrialRequest) async throws -> TrialValue {
        let configuration = await gateway.configuration
        let (rule, faults) = configuration.rule(trial.rule)
        guard let rule else {
            throw Problem(
                .unprocessableContent, faults.map(\.message).joined(separator: "; "),
                errors: faults.map { .init(key: $0.key, detail: $0.message) })
        }
        // Start with the oldest event, so that beacons that were there before `from` do not count as new.
        // Seconds in JSON are exact to a quarter of a microsecond.
        let (from, to) = (
            try Self.time(trial.from, "from")?.advanced(by: -1000) ?? .zero,
            try Self.time(trial.to, "to")?.advanced(by: 1000)
        )
        let now = history.store.wallTime
        // An event after `to` can still withhold a run that waits.
        let horizon = to?.advanced(by: (rule.unless?.within ?? .zero).clampedNanoseconds) ?? .latest
        let kinds: Set<String> = ["enter", "exit", "place", "proximity", "gone", "suspicious"]
        var number: Int64 = 0
        var one = ActiveRule(rule)
        one.isSwitchedOn = true
        var value = TrialValue(
            events: 0, from: nil, runs: [], withheld: [], unknown: Self.unknown(of: rule, in: configuration))
        var ids = EventIDs()
        var installs: [String: Install] = [:]
        var newest: [BeaconIdentity: RecordedEvent] = [:]
        var lastShown = to ?? .latest
        func add(_ decisions: [RuleDecision]) {
            for decision in decisions where (from...max(from, lastShown)).contains(decision.occurrence.time) {
                let (occurrence, work) = (decision.occurrence, decision.work)
                guard work.ran || work.reason != nil else { continue }
                let run = TrialValue.Run(
                    time: occurrence.time.seconds, event: occurrence.number, summary: occurrence.notification.summary,
                    person: occurrence.person.isEmpty ? nil : occurrence.person,
                    reason: work.reason)
                if work.ran { value.runs.append(run) } else { value.withheld.append(run) }
            }
        }
        /// Decides about the runs whose time was over before an event, or at the end.
        func release(here isHere: Bool, _ isDue: (Timestamp) -> Bool) {
            add(
                one.release(
                    here: isHere, now: nil, named: configuration.beacons.map(\.identity), ids: &ids, if: isDue))
        }
        func look(at event: RecordedEvent) {
            let (notification, stored) = (event.notification, event.stored)
            if notification.sender == nil { release(here: true) { $0 < notification.time } }
            add(
                one.receive(
                    notification, stored, from: notification.install.flatMap { installs[$0] }, now: nil,
                    in: configuration, ids: &ids
                ) { _ in
                    notification.sender == nil
                        ? .zero : .nanoseconds(max(0, stored.arrival.since(notification.time)))
                })
        }
        while value.events < Self.maximumTried {
            let (page, last) = try await history.events(after: number)
            let events = page.filter { kinds.contains($0.event.kind) && $0.event.time <= horizon }
                .compactMap(RecordedEvent.init)
            let unknown = Set(events.compactMap(\.notification.install)).subtracting(installs.keys)
            if !unknown.isEmpty { installs.merge(try await state.people.installs(unknown)) { _, new in new } }
            for event in events {
                let notification = event.notification
                if (from...max(from, lastShown)).contains(notification.time) {
                    value.events += 1
                    value.from = value.from ?? notification.time.seconds
                }
                if notification.sender == nil, let beacon = notification.beacon, notification.proximity != nil {
                    newest[beacon] = event
                }
                look(at: event)
            }
            guard let last else {
                // Beacons that are still there have stayed until the end. Events one second later show it.
                let end = min(horizon, now)
                lastShown = min(lastShown, end)
                for var event in newest.values where event.notification.time <= end {
                    event.notification.time = end.advanced(by: Timestamp.nanosecondsPerSecond)
                    look(at: event)
                }
                for isHere in [true, false] { release(here: isHere) { $0 <= end } }
                break
            }
            number = last
        }
        // The newest first, as in other lists.
        value.runs = value.runs.sorted { $0.time < $1.time }.suffix(Self.maximumShown).reversed()
        value.withheld = value.withheld.sorted { $0.time < $1.time }.suffix(Self.maximumShown).reversed()
        return value
    }

    private static func time(_ number: Double?, _ key: String) throws -> Timestamp? {
        guard let number else { return nil }
        guard let time = Timestamp(since1970: number) else {
            throw Problem(.unprocessableContent, key: key, "is not a time in seconds since 1970")
        }
        return time
    }

    /// Returns the events of a rule for which the history lacks changes.
    ///
    /// The history has all changes from apps and other gateways. Of the gateway's own receivers it has only the changes
    /// that destinations were notified of.
    private static func unknown(of rule: Rule, in configuration: GatewayConfiguration) -> [TrialValue.Unknown] {
        // A rule with a message or for people only matches events that apps or other gateways sent.
        let isAboutHere = rule.audience == nil && (rule.target != nil || !rule.destinations.isEmpty)
        guard isAboutHere, !configuration.sources.isEmpty else { return [] }
        func reason(_ event: String, _ kind: BeaconNotification.Kind) -> TrialValue.Unknown {
            .init(
                event: event,
                reason: "of this gateway's own receivers, the history has "
                    + (configuration.notify.kinds.contains(kind)
                        ? "only the changes that caused notifications, and not the times when a receiver or beacond was not listening"
                        : "no such changes: \"events\" of \"notify\" lacks \(kind)"))
        }
        var unknown = rule.events.filter(\.needsRanging).sorted { $0.description < $1.description }.map { event in
            let kind: BeaconNotification.Kind = event == .gone ? .gone : .proximity
            return reason(event.description, kind)
        }
        if rule.unless != nil { unknown.append(reason("unless", .proximity)) }
        return unknown
    }
}

extension Request {
    /// Returns the number of a query parameter, or nil without it.
    ///
    /// - Throws: ``Problem`` if it is not a number in the range.
    func number(_ key: String, _ range: ClosedRange<Int>) throws -> Int? {
        guard let text = parameter(key) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            let what =
                range.upperBound == .max
                ? "a whole number from \(range.lowerBound)"
                : "a whole number from \(range.lowerBound) to \(range.upperBound)"
            throw Problem(.badRequest, key: key, "must be \(what)")
        }
        return number
    }
}
