import BeaconDelivery
import BeaconEngine
package import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation

/// The sightings for the conditions of a rule on other beacons.
struct RuleSightings: Sendable, Codable {
    var was = Sightings()
    var wasNot = Sightings()
    var unless = Sightings()

    /// Returns the sightings of some persons only.
    func filtered(_ isIncluded: (String) -> Bool) -> RuleSightings {
        var result = self
        result.was = was.filtered(isIncluded)
        result.wasNot = wasNot.filtered(isIncluded)
        result.unless = unless.filtered(isIncluded)
        return result
    }
}

extension ActiveRule {
    /// The sightings for the conditions of a rule on other beacons, and the runs that wait for more.
    struct Side: Sendable {
        var seen = RuleSightings()
        var held: [HeldRun] = []
    }

    /// The side of this machine's events, or of others.
    subscript(isHere isHere: Bool) -> Side {
        get { isHere ? here : elsewhere }
        _modify {
            if isHere { yield &here } else { yield &elsewhere }
        }
    }
}

extension RuleOccurrence {
    /// The persons whose sightings count: the user and, for the time before the app named one, the install; without
    /// both, the beacon or the region.
    var persons: [String] {
        let own = notification.sender.map { "\($0): \(person)" } ?? person
        guard let install = notification.install, install != person else { return [own] }
        return [own, "\(notification.sender ?? ""): \(install)"]
    }

    /// The beginning: that of the stay, if the event needs one.
    fileprivate var began: Timestamp {
        guard case .proximity(_, for: let stay) = event else { return time }
        return time.advanced(by: -stay.clampedNanoseconds)
    }
}

extension ActiveRule {
    /// The most runs of a rule that wait. If there are more, the oldest do not run.
    private static let maximumHeld = 10_000

    // MARK: - Sightings

    /// Notes a change of proximity for the conditions on other beacons.
    ///
    /// - Parameters:
    ///   - change: the change, by the wall clock.
    ///   - persons: the persons who are near the beacon, or no longer.
    ///   - receiver: the receiver, if several can list the beacon.
    ///   - regions: the regions of the beacon.
    ///   - isHere: true for this machine's receivers.
    /// - Returns: the decisions about waiting runs that it ends.
    mutating func note(
        _ change: ProximityChange, of persons: [String], at receiver: String = "", in regions: Set<String>,
        isHere: Bool
    ) -> [RuleDecision] {
        /// Returns true if a person came near.
        func add(_ encounter: RuleEncounter?, to sightings: inout Sightings) -> Bool {
            guard let encounter, encounter.concerns(change.beacon, of: regions) else { return false }
            var isNear = false
            if case .at(let proximity) = change.state { isNear = proximity.rank >= encounter.proximity.rank }
            for person in persons {
                sightings.note(
                    isNear, person, "\(change.beacon) \(receiver)", at: change.time, lasts: change.lasts)
            }
            return isNear
        }
        guard rule.remembersSightings else { return [] }
        _ = add(rule.audience?.was, to: &self[isHere: isHere].seen.was)
        _ = add(rule.audience?.wasNot, to: &self[isHere: isHere].seen.wasNot)
        guard add(rule.unless, to: &self[isHere: isHere].seen.unless) else { return [] }
        let met = self[isHere: isHere].held.filter { run in
            run.persons.contains(where: persons.contains) && sighting(ending: run) != nil
        }
        guard !met.isEmpty else { return [] }
        let ids = Set(met.map(\.id))
        self[isHere: isHere].held.removeAll { ids.contains($0.id) }
        return met.compactMap { run in sighting(ending: run).map { withheld(run, since: $0) } }
    }

    /// Notes an event of the history for the conditions on other beacons.
    ///
    /// - Returns: the decisions about waiting runs that it ends.
    mutating func note(_ event: BeaconNotification, in configuration: GatewayConfiguration) -> [RuleDecision] {
        guard rule.remembersSightings, event.kind == .proximity || event.kind == .gone, let beacon = event.beacon else {
            return []
        }
        let isHere = event.sender == nil
        let state: ProximityChange.State =
            event.kind == .gone ? .gone : event.proximity.map { .at($0) } ?? .at(.unknown)
        let regions = Set(
            configuration.regions.filter { $0.region.constraint.matches(beacon) }.map(\.name)
                + [event.region?.name].compactMap { $0 })
        let prefix = event.sender.map { "\($0): " } ?? ""
        // As the event says: the install may have had another user then, and may have another one later.
        let user = event.person ?? event.install
        return note(
            ProximityChange(beacon, state, at: event.time, lasts: event.install == nil),
            of: (user.map { [$0] } ?? ["\(beacon)"] + regions.sorted()).map { prefix + $0 },
            at: event.receiver ?? "", in: regions, isHere: isHere)
    }

    /// Notes an event from before the start.
    mutating func recall(_ event: BeaconNotification, in configuration: GatewayConfiguration) {
        let isHere = event.sender == nil
        let held = self[isHere: isHere].held
        self[isHere: isHere].held = []
        _ = note(event, in: configuration)
        self[isHere: isHere].held = held
    }

    /// Returns the first time at which the person of a waiting run came near in time; nil if it did not.
    private func sighting(ending run: HeldRun) -> Timestamp? {
        let after = run.occurrence.time.advanced(by: 1)
        guard after <= run.deadline else { return nil }
        return self[isHere: run.isHere].seen.unless.first(of: run.persons, in: after...run.deadline)
    }

    /// Returns why the rule does not run for a person's past, as a sentence; nil if it may.
    func pastReason(against occurrence: RuleOccurrence) -> String? {
        func wasNear(_ encounter: RuleEncounter, _ sightings: Sightings) -> Bool {
            // Without the stay that the event is about.
            let end = occurrence.began
            let begin = end.advanced(by: -encounter.within.clampedNanoseconds)
            return sightings.first(of: occurrence.persons, in: begin...end.advanced(by: -1)) != nil
        }
        let seen = self[isHere: occurrence.notification.sender == nil].seen
        if let was = rule.audience?.was, !wasNear(was, seen.was) {
            return "the person was near no beacon of \"was\" in the \(DurationText.text(was.within)) before"
        }
        if let wasNot = rule.audience?.wasNot, wasNear(wasNot, seen.wasNot) {
            return "the person was near a beacon of \"was-not\" in the \(DurationText.text(wasNot.within)) before"
        }
        return nil
    }

    // MARK: - Waiting runs

    /// Lets a run wait for the time of `unless`.
    ///
    /// - Parameters:
    ///   - arrival: the time of arrival of an event of an app or another gateway; nil for this machine's.
    ///   - line: the line for the rule's program.
    mutating func hold(
        _ occurrence: RuleOccurrence, _ within: Duration, arrival: Timestamp?, line: [UInt8]?, ids: inout EventIDs
    ) -> Work {
        let span = within.clampedNanoseconds
        let deadline = occurrence.time.advanced(by: span)
        // A phone's clock may be wrong, and its events may arrive late, all at once.
        let due = arrival.map { max($0, min(occurrence.time, $0).advanced(by: span)) } ?? deadline
        let id =
            occurrence.number.map { EventID(rule: rule.name, number: $0, of: occurrence) }
            ?? ids.next(at: occurrence.time)
        var occurrence = occurrence
        // Parts without a bound, which no action needs.
        occurrence.notification.data = nil
        (occurrence.notification.properties, occurrence.notification.presence) = (nil, nil)
        return hold(
            HeldRun(
                id: "\(id)", rule: rule.name, occurrence: occurrence, deadline: deadline, due: due, line: line))
    }

    /// Lets a run wait, unless the person has already come near.
    mutating func hold(_ run: HeldRun) -> Work {
        if let sighting = sighting(ending: run) { return withheld(run, since: sighting).work }
        var work = Work(held: run)
        if self[isHere: run.isHere].held.count >= Self.maximumHeld {
            let oldest = self[isHere: run.isHere].held.removeFirst()
            var entry = rule.run(for: oldest.occurrence)
            (entry.outcome, entry.detail) = (.withheld, "more than \(Self.maximumHeld) runs of the rule were waiting")
            (work.runs, work.ended) = ([entry], [oldest.id])
            counts.withheld += 1
        }
        self[isHere: run.isHere].held.append(run)
        return work
    }

    /// Lets a run of before the start wait again.
    mutating func restore(_ run: HeldRun) { self[isHere: run.isHere].held.append(run) }

    private mutating func withheld(_ run: HeldRun, since sighting: Timestamp) -> RuleDecision {
        let later = DurationText.text(.seconds(sighting.since(run.occurrence.time) / Timestamp.nanosecondsPerSecond))
        var occurrence = run.occurrence
        occurrence.time = sighting
        return withheld(occurrence, run.id, "a beacon of \"unless\" was near \(later) later")
    }

    private mutating func withheld(_ occurrence: RuleOccurrence, _ id: String, _ reason: String) -> RuleDecision {
        counts.withheld += 1
        var entry = rule.run(for: occurrence)
        (entry.outcome, entry.detail) = (.withheld, reason)
        return RuleDecision(occurrence, Work(runs: [entry], ended: [id]))
    }

    /// Decides about the waiting runs whose time is over.
    ///
    /// - Parameters:
    ///   - isHere: true for runs for events of this machine.
    ///   - now: the present time, to find runs whose time was over long ago; nil for none.
    ///   - named: the named beacons, whose last run is always remembered.
    ///   - isOver: returns true for a time that is over.
    package mutating func release(
        here isHere: Bool, now: Timestamp?, named: @autoclosure () -> [BeaconIdentity], ids: inout EventIDs,
        if isOver: (Timestamp) -> Bool
    ) -> [RuleDecision] {
        let due = self[isHere: isHere].held.filter { isOver($0.due) }.sorted { $0.deadline < $1.deadline }
        guard !due.isEmpty else { return [] }
        self[isHere: isHere].held.removeAll { isOver($0.due) }
        var decisions: [RuleDecision] = []
        for run in due {
            var occurrence = run.occurrence
            // Days and hours, and the span, count from the time of the run.
            (occurrence.time, occurrence.lateness) = (run.deadline, .zero)
            if let sighting = sighting(ending: run) {
                decisions.append(withheld(run, since: sighting))
                continue
            }
            guard isEnabled else {
                decisions.append(withheld(occurrence, run.id, "the rule was off when the time was over"))
                continue
            }
            let late = Duration.nanoseconds(max(0, now?.since(run.due) ?? 0))
            if late > Rule.lateness, !rule.acceptsLateEvents {
                let text = DurationText.text(.seconds(late.components.seconds))
                decisions.append(withheld(occurrence, run.id, "its time was over \(text) before it could run"))
                continue
            }
            if let reason = rule.reason(against: occurrence, last: firings[occurrence.personKey]) {
                decisions.append(withheld(occurrence, run.id, reason))
                continue
            }
            var work = self.run(occurrence, line: run.line, named: named(), ids: &ids)
            work.ended = [run.id]
            if !work.runs.isEmpty, let unless = rule.unless {
                work.runs[0].detail = "no beacon of \"unless\" was near within \(DurationText.text(unless.within))"
            }
            decisions.append(RuleDecision(occurrence, work))
        }
        return decisions
    }
}

extension Rule {
    /// True if the rule has conditions on other beacons, and needs to know who was near them.
    var remembersSightings: Bool { unless != nil || audience?.was != nil || audience?.wasNot != nil }

    /// True if its conditions on other beacons are those of another rule, so that it needs the same sightings.
    func remembersSame(as other: Rule) -> Bool {
        unless == other.unless && audience?.was == other.audience?.was && audience?.wasNot == other.audience?.wasNot
    }

    /// True if the rule needs the proximity of beacons.
    var needsRanging: Bool { unless != nil || events.contains(where: \.needsRanging) }
}
