import BeaconDelivery
import BeaconEventStore
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import Foundation
import Logging

// The way of a message: the core takes it in, events come of it, they are written, and then programs are started.

extension Gateway {
    // MARK: - Messages

    /// Handles a message of a source.
    func receive(_ message: SourceMessage, from number: Int) async {
        switch message {
        case .heard(let batch):
            listener.place(batch, of: number)
            return await apply(batch, from: number)
        case .radio(.deaf(let from, let to, let adapter)):
            fleet?.noteDeafness(from: from, to: to, of: adapter, source: number)
        case .radio(.advertising(let frame, let result)):
            if advertised.receive(frame, result) { broadcast?.send(.changed([.advertising])) }
        default: break
        }
        listener.receive(message, from: number)
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

    // MARK: - Events

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
                    RangedValue($0, in: $1, reporter.names, configuration)
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
    func settle() async {
        queue.endGathering()
        await write()
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
    }

    // MARK: - Writing

    /// Writes the events that wait. If the disk fails, the next message of a source tries again: the sources give the
    /// time each second.
    private func write() async {
        await writeEvents()
        let topics = reporter.view.takeTopics()
        if !topics.isEmpty { broadcast?.send(.changed(topics)) }
        // Files and simulations at full speed can wait, and lose nothing.
        while canWait, !queue.pending.isEmpty, !listener.isStopped {
            try? await Task.sleep(for: WriteQueue.pause)
            await writeEvents()
        }
        let lost = queue.pending.enforceBound()
        if lost > 0 { logger.error("\(lost) notifications are lost: more wait in memory than may") }
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

    /// Writes the events that wait, and the presence that they lead to.
    func writeEvents() async {
        guard !queue.isPaused else { return tellPending() }
        if let store, let recovery = store.recovery, recovery != queue.recovery,
            let found = try? await Presence(in: store)
        {
            // The file was replaced by a new one, which may lack the newest changes.
            queue.setSaved(found, recovery)
            queue.isPresenceSaved = false
        }
        // In a fleet, the presence of before stays until the machine is alone again.
        let isPresenceDue = !queue.isPresenceSaved && store != nil && fleet == nil && hasBegun
        guard !queue.pending.isEmpty || isPresenceDue else { return }
        let batch = queue.next(with: isPresenceDue ? presence : nil)
        do {
            try await writer.write(batch.events, changing: batch.changes)
            if queue.finish(batch) { logger.notice("events and region states are written again") }
        } catch {
            queue.keep(batch)
            if let error = error as? EventStoreError, error.code == .invalid { return await writeEach(batch.events) }
            if queue.pauseWriting() {
                logger.error("cannot write events and region states: \(error); they wait in memory")
            }
            tellPending()
        }
    }

    /// Tells those who look at the console of the events that the disk does not take.
    private func tellPending() {
        for event in queue.pending.tell() {
            guard event.reach != .destinations, let history = event.history else { continue }
            broadcast?.send(.event(NumberedEvent(id: event.id, event: history)))
        }
    }

    /// Writes events one by one, because some can never be written and hold up the others. The presence is written
    /// with the next ones.
    private func writeEach(_ events: [GatewayEvent]) async {
        for event in events {
            do {
                try await writer.write([event], changing: [])
                queue.pending.removeFirst(1)
            } catch let error as EventStoreError where error.code == .invalid {
                queue.pending.loseFirst()
                logger.error("an event is lost: \(error)")
            } catch {
                return
            }
        }
    }

    /// Makes the last attempts to write the notifications that wait in memory.
    func writePending() async {
        for _ in 0..<5 where !queue.isEmpty {
            queue.endPause()
            await inTurn { await settle() }
            if !queue.pending.isEmpty { try? await Task.sleep(for: .seconds(1)) }
        }
        if !queue.pending.isEmpty {
            logger.error("\(queue.pending.events.count) events are lost: they could not be written")
            queue.pending.loseAll()
        }
        publish()
    }

    func publish() {
        let sources =
            // Before the run, they are not made yet.
            listener.sources.isEmpty
            ? configuration.sources.map { .init(name: $0.name) } : listener.present.map(\.source.statistics)
        let inside =
            fleet?.states.count { $0.key.isRegion && $0.value.known == .inside }
            ?? conditions.conditions.count {
                $0.key.isRegion && listener.core.knownState(of: $0.value.id) == .inside
            }
        let statistics = GatewayStatistics(
            sources: sources, regionsInside: inside,
            beaconsPresent: reporter.countBeacons(isLast: listener.sources.allSatisfy(\.isEnded)),
            notifications: reporter.counts, unkept: queue.pending.notifications, lost: queue.pending.lost,
            time: listener.time)
        published.withLock { $0 = statistics }
    }
}
