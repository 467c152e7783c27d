import BeaconDelivery
import BeaconEventStore
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import Foundation
import Logging

// The path of a source's event: the core handles it, the gateway writes the resulting events and then starts programs.

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

    /// Handles the adverts of a source whose time shift is known.
    func apply(_ batch: SourceBatch, from number: Int) async {
        let time = listener.receive(batch, from: number, isCounted: broadcast != nil)
        fleet?.feed(batch, of: listener.sources[number], number: number)
        clients.record(batch, of: listener.sources[number]) { listener.name($0) }
        if time != nil {
            // In a fleet, other machines may have the receivers.
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
        for event in listener.core.drainEvents() {
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

    /// Writes the outcome of events, or collects it for the next write.
    func finish(_ outcome: EventReporter.Outcome) async {
        queue.add(outcome)
        if !queue.mayGather(isMoreThere: isMoreThere) { await settle() }
        publish()
    }

    /// Writes waiting events, and starts their programs.
    ///
    /// - Returns: true if all of them are on the disk.
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

    /// Writes waiting events and the resulting presence. While the disk fails, they wait in the memory of the store.
    private func write() async -> Bool {
        if let store {
            let losses = WriteQueue.Losses(of: store)
            if losses != queue.losses, store.health.waitingEvents == 0, let found = try? await Presence(in: store) {
                queue.setSaved(found, losses)
                queue.isPresenceSaved = false
            }
        }
        // In a fleet, the earlier presence stays until the machine is alone again.
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

    /// Returns true once the disk has accepted a step. Files and simulations at full speed wait for that, and lose
    /// nothing.
    private func isTaken(_ step: Step) async -> Bool {
        // While the disk fails, the store itself retries every second. Do not retry with each event of a source.
        guard canWait || store?.health.failure == nil else { return false }
        while true {
            do throws(EventStoreError) {
                _ = try await writer.append(step)
                return true
            } catch {
                // Waiting does not help with a step that the store rejects, and logs and counts. The reporter finds
                // such steps earlier.
                guard canWait, !listener.isStopped, ![.invalid, .conflict].contains(error.code) else { return false }
            }
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// Queues a step in the store until the disk accepts it, and shows its events at once.
    private func keep(_ step: Step) {
        writer.enqueue(step)
        for event in step.events { broadcast?.show(event) }
    }

    /// The number of events that were lost because too many waited for the disk or they could not be encoded.
    var lost: Int { queue.lost + (store.map { WriteQueue.Losses(of: $0).dropped } ?? 0) }

    /// Returns whether the disk has accepted everything that was written before.
    func isStored() async -> Bool {
        guard let store else { return true }
        // The store writes in order, so an empty step is written after everything that waits.
        return (try? await store.append(Step())) != nil
    }

    /// Makes a last attempt to write waiting events.
    func writeRest() async {
        _ = await inTurn { await settle() }
        for attempt in 0..<5 {
            if await isStored() { return publish() }
            if attempt < 4 { try? await Task.sleep(for: Self.pause) }
        }
        let waiting = store?.health.waitingEvents ?? 0
        queue.lost += waiting
        if waiting > 0 { logger.error("lost \(waiting) events that could not be written") }
        publish()
    }

    /// The current presence.
    private var presence: Presence {
        var regions: [String: Presence.Region] = [:]
        // Applications store the states of their regions themselves.
        for (owner, condition) in conditions.conditions where owner.isConfigured {
            let holder = listener.core.holder(of: condition.id)
            var region = Presence.Region(
                constraint: condition.region.constraint, state: listener.core.knownState(of: condition.id),
                source: holder.map { listener.sourceName(of: $0) }, holder: holder.flatMap { listener.ownName(of: $0) })
            if case .region(let name) = owner, let change = reporter.view.regionChanges[name] {
                (region.since, region.receiver) = (change.time, change.receiver)
            }
            regions[owner.label] = region
        }
        return Presence(regions: regions, places: reporter.places, receivers: listener.names.kept)
    }

    func publish() {
        let sources =
            // Sources do not exist before the run.
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
