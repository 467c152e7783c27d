import BeaconDelivery
import BeaconEventStore
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import Foundation
import Logging

// The way of a source's event: the core handles it, the gateway writes the resulting events, and then starts programs.

extension Gateway {
    // MARK: - Events of sources

    /// Handles an event of a source.
    func receive(_ event: SourceEvent, from number: Int) async {
        switch event {
        case .heard(let batch):
            listener.place(batch, of: number)
            return await apply(batch, from: number)
        case .deaf(let from, let to, let adapter):
            fleet?.noteDeafness(from: from, to: to, of: adapter, source: number)
        case .advertising(let advert, let result):
            if advertised.receive(advert, result) { broadcast?.send(.changed([.advertising])) }
        default: break
        }
        listener.receive(event, from: number)
        await handleEvents()
    }

    /// Handles what a source heard, whose place in time is known.
    func apply(_ batch: SourceBatch, from number: Int) async {
        let time = listener.receive(batch, from: number, isCounted: broadcast != nil)
        fleet?.feed(batch, of: listener.sources[number], number: number)
        clients.record(batch, of: listener.sources[number])
        if time != nil {
            // In a fleet, receivers may be other machines'.
            if fleet == nil { listener.reportMissingReceivers(of: configuration) }
            clones.reportOmissions(of: listener.core)
        }
        await handleEvents(at: time)
    }

    // MARK: - Events of the core

    /// Handles the core's events: notifications are written first, then programs are started.
    ///
    /// - Parameter time: the time of the source that reported, by the core's clock and by the source's own.
    func handleEvents(at time: (core: Timestamp, wall: Timestamp)? = nil) async {
        var outcome = EventReporter.Outcome()
        reporter.report(listener.takeChanges(), to: &outcome)
        for event in listener.core.takeEvents() {
            switch event {
            case .state(let change):
                guard let (owner, constraint) = conditions.owner(of: change.condition) else { continue }
                let event = RegionEvent(
                    change.kind, name: owner.name, constraint: constraint, time: change.wallTime,
                    receiver: change.receiver.map { listener.name($0) }, state: change.state, before: change.before,
                    identity: change.identity)
                if owner.isConfigured { outcome.changesPresence = true }
                reporter.report(event, of: owner, at: change.time, to: &outcome)
            case .ranged(let report):
                let receiver = listener.name(report.receiver)
                let isDelivered = clients.deliver(report, from: receiver) {
                    RangedBeaconValue($0, in: $1, reporter.names, configuration)
                }
                if isDelivered { continue }
                reporter.report(report, from: receiver, isForClients: clients.isForClients(report), to: &outcome)
            case .placed(let change): reporter.report(change, to: &outcome)
            case .suspected(let event): reporter.report(event, to: &outcome)
            case .located: break
            case .notice(let notice): logger.warning("\(notice)", metadata: ["kind": "\(notice.kind)"])
            }
        }
        if let time { reporter.advance(to: time.core, at: time.wall, &outcome) }
        await finish(outcome)
    }

    /// Writes the outcome of events, or gathers it with the next one.
    func finish(_ outcome: EventReporter.Outcome) async {
        queue.add(outcome)
        if !queue.mayGather(isMoreThere: isMoreThere) { await settle() }
        publish()
    }

    /// Writes what waits, and starts programs for it.
    ///
    /// - Returns: true where all of it is on the disk.
    @discardableResult
    func settle() async -> Bool {
        let isWritten = await write()
        for event in queue.takeLaunches() {
            switch event {
            case .change(let change, let application, let region):
                await launches?.startApplication(application, for: change, of: region)
            case .report(let report, let time, let receiver):
                await rules?.handle(
                    report, at: time, from: receiver, regions: configuration.notifiedRegions, beacons: reporter.known)
            }
        }
        await rules?.settle()
        return isWritten
    }

    // MARK: - Writing

    /// Writes the events that wait, and the presence that they lead to. While the disk fails, they wait in the memory
    /// of the store.
    private func write() async -> Bool {
        if let store {
            let losses = WriteQueue.Losses(of: store)
            if losses != queue.losses, store.health.waitingEvents == 0, let found = try? await Presence(in: store) {
                queue.setSaved(found, losses)
                queue.isPresenceSaved = false
            }
        }
        // In a fleet, the presence of before stays until the machine is alone again.
        let isPresenceDue = !queue.isPresenceSaved && store != nil && fleet == nil && hasBegun
        var isWritten = true
        if let step = queue.take(with: isPresenceDue ? presence : nil) {
            isWritten = await isTaken(step)
            if !isWritten { keep(step) }
        }
        let topics = reporter.view.takeTopics()
        if !topics.isEmpty { broadcast?.send(.changed(topics)) }
        return isWritten
    }

    /// Returns true where the disk takes a step. Files and simulations at full speed wait until it does, and lose
    /// nothing.
    private func isTaken(_ step: Step) async -> Bool {
        // The store itself asks a disk that fails each second. It is not asked with each event of a source.
        guard canWait || store?.health.failure == nil else { return false }
        while true {
            do throws(EventStoreError) {
                _ = try await writer.append(step)
                return true
            } catch {
                // Waiting helps no step that the store refuses: it logs and counts it. The reporter found those before.
                guard canWait, !listener.isStopped, ![.invalid, .conflict].contains(error.code) else { return false }
            }
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// Leaves a step to the store until the disk takes it, and shows its events at once.
    private func keep(_ step: Step) {
        writer.enqueue(step)
        for event in step.events {
            guard let history = HistoryEvent(event) else { continue }
            broadcast?.send(.event(NumberedEvent(id: event.id, event: history)))
        }
    }

    /// The number of events that were lost, since too many waited for the disk or since they cannot be written.
    var lost: Int { queue.lost + (store.map { WriteQueue.Losses(of: $0).dropped } ?? 0) }

    /// Returns whether the disk has taken all that was written before.
    func isStored() async -> Bool {
        guard let store else { return true }
        // The store writes in order, so that an empty step is written after all that waits.
        return (try? await store.append(Step())) != nil
    }

    /// Makes the last attempts to write what waits.
    func writeRest() async {
        _ = await inTurn { await settle() }
        for attempt in 0..<5 {
            if await isStored() { return publish() }
            if attempt < 4 { try? await Task.sleep(for: Self.pause) }
        }
        let waiting = store?.health.waitingEvents ?? 0
        queue.lost += waiting
        if waiting > 0 { logger.error("\(waiting) events are lost: they could not be written") }
        publish()
    }

    /// The presence that is known now.
    private var presence: Presence {
        var regions: [String: Presence.Region] = [:]
        // Applications store the states of their regions themselves.
        for (owner, condition) in conditions.conditions where owner.isConfigured {
            let holder = listener.core.holder(of: condition.id)
            var region = Presence.Region(
                constraint: condition.region.constraint, state: listener.core.knownState(of: condition.id),
                source: holder.map { listener.sourceName(of: $0) }, holder: holder.map { listener.name($0) })
            if case .region(let name) = owner, let change = reporter.view.regionChanges[name] {
                (region.since, region.receiver) = (change.time, change.receiver)
            }
            regions[owner.label] = region
        }
        return Presence(regions: regions, places: reporter.places)
    }

    func publish() {
        let sources =
            // Before the run, they are not made yet.
            listener.sources.isEmpty
            ? configuration.sources.map { .init(name: $0.name) } : listener.statistics
        let inside =
            fleet?.states.count { $0.key.isRegion && $0.value.known == .inside }
            ?? conditions.countInside(in: listener.core)
        let health = store?.health
        var statistics = GatewayStatistics(sources: sources)
        statistics.regionsInside = inside
        statistics.beaconsPresent = reporter.countBeacons(isLast: listener.sources.allSatisfy(\.isEnded))
        statistics.notifications = reporter.counts
        statistics.unkept = health?.failure == nil ? 0 : health?.waitingEvents ?? 0
        (statistics.lost, statistics.time) = (lost, listener.time)
        published.withLock { [statistics] in $0 = statistics }
    }
}
