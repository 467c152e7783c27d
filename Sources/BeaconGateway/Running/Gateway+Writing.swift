import BeaconDelivery
import BeaconEventStore
import BeaconModel
import BeaconMonitoring
import Foundation
import Logging

/// The writing of a gateway's events, with the presence that they lead to.
extension Gateway {
    /// Writes the events that wait. If the disk fails, the next message of a source tries again: the sources give the
    /// time each second.
    func write() async {
        await writeEvents()
        let topics = view.takeTopics()
        if !topics.isEmpty { broadcast?.send(.changed(topics)) }
        // Files and simulations at full speed can wait, and lose nothing.
        while canWait, !pending.isEmpty, !isStopped {
            try? await Task.sleep(for: Self.writePause)
            await writeEvents()
        }
        let lost = pending.enforceBound()
        if lost > 0 { logger.error("\(lost) notifications are lost: more wait in memory than may") }
    }

    /// The presence that is known now.
    private var presence: Presence {
        var regions: [String: Presence.Region] = [:]
        for (owner, condition) in conditions {
            // Applications store the states of their regions themselves.
            if case .application = owner { continue }
            guard let constraint = constraint(of: owner) else { continue }
            let holder = core.holder(of: condition)
            let source = holder.map { sources[receivers[Int($0.index)].source].settings.name }
            var region = Presence.Region(
                constraint: constraint, state: core.knownState(of: condition), source: source, holder: holder.map(name))
            if case .region(let name) = owner {
                region.since = view.regionChanges[name]?.time
                region.receiver = view.regionChanges[name]?.receiver
            }
            regions[owner.label] = region
        }
        return Presence(regions: regions, places: places)
    }

    /// Writes the events that wait, and the presence that they lead to, as one: a change is repeated by a restart where
    /// nothing of it was written, and is known otherwise.
    func writeEvents() async {
        // A disk that is full is not asked again with each message of a source.
        guard nextWrite.map({ $0 <= .now }) ?? true else { return tellPending() }
        if let store, let recovery = store.recovery, recovery != storeRecovery,
            let found = try? await Presence(in: store)
        {
            // The file was replaced by a new one, which may lack the newest changes.
            (storeRecovery, savedPresence, isPresenceSaved) = (recovery, found, false)
        }
        // In a fleet, the presence of before stays until the machine is alone again.
        let isPresenceDue = !isPresenceSaved && store != nil && fleet == nil
        guard !pending.isEmpty || isPresenceDue else { return }
        let presence = isPresenceDue ? presence : savedPresence
        let changes = isPresenceDue ? presence.changes(since: savedPresence) : []
        let events = pending.events
        // What changes while it is written is written next.
        if isPresenceDue { isPresenceSaved = true }
        do {
            try await writer.write(events, changing: changes)
            pending.removeFirst(events.count)
            savedPresence = presence
            if nextWrite != nil { logger.notice("events and region states are written again") }
            nextWrite = nil
        } catch {
            if isPresenceDue { isPresenceSaved = false }
            if let error = error as? EventStoreError, error.code == .invalid { return await writeEach(events) }
            if nextWrite == nil {
                logger.error("cannot write events and region states: \(error); they wait in memory")
            }
            nextWrite = .now + Self.writePause
            tellPending()
        }
    }

    /// Tells those who look at the console of the events that the disk does not take.
    private func tellPending() {
        for event in pending.tell() {
            guard let history = event.history else { continue }
            broadcast?.send(.event(NumberedEvent(id: event.id, event: history)))
        }
    }

    /// Writes events one by one, because some can never be written and hold up the others. The presence is written
    /// with the next ones.
    private func writeEach(_ events: [GatewayEvent]) async {
        for event in events {
            do {
                try await writer.write([event], changing: [])
                pending.removeFirst(1)
            } catch let error as EventStoreError where error.code == .invalid {
                pending.loseFirst()
                logger.error("an event is lost: \(error)")
            } catch {
                return
            }
        }
    }

    /// Makes the last attempts to write the notifications that wait in memory.
    func writePending() async {
        for _ in 0..<5
        where !pending.isEmpty || !isPresenceSaved || !unlaunched.isEmpty {
            nextWrite = nextWrite.map { min($0, .now) }
            await settle()
            if !pending.isEmpty { try? await Task.sleep(for: .seconds(1)) }
        }
        if !pending.isEmpty {
            logger.error("\(pending.events.count) events are lost: they could not be written")
            pending.loseAll()
        }
        publish()
    }
}
