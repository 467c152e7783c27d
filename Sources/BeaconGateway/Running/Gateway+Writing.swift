import BeaconDelivery
import BeaconEventStore
import BeaconModel
import BeaconMonitoring
import Foundation
import Logging

/// What a gateway writes, in this order: notifications, the history, the presence.
extension Gateway {
    /// Writes the notifications that wait, and then the presence that they report. Those that cannot be written now are
    /// tried again with what comes next: the sources give the time each second.
    func write() async {
        await writeNotifications()
        await writeHistory()
        // Files and simulations at full speed can wait, and lose nothing.
        while canWait, !pending.notifications.isEmpty, !isStopped {
            try? await Task.sleep(for: Self.writePause)
            await writeNotifications()
        }
        let lost = pending.enforceBound()
        if lost > 0 { logger.error("\(lost) notifications are lost: more wait in memory than may") }
        // In a fleet, what was known before it stays for when the machine is alone again.
        guard !isPresenceSaved, pending.notifications.isEmpty, let state, fleet == nil else { return }
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
        do {
            // What changes while it is written is written next.
            isPresenceSaved = true
            try await state.save(Presence(regions: regions, places: places))
            if isPresenceFailing { logger.notice("region states are saved again") }
            isPresenceFailing = false
        } catch {
            isPresenceSaved = false
            // The first time only: sources give the time each second.
            if !isPresenceFailing {
                logger.error("cannot save region states: \(error); they are kept in memory and tried again")
            }
            isPresenceFailing = true
        }
    }

    /// Keeps the events before the states that they lead to: an end in between repeats a change, and loses none.
    func writeHistory() async {
        guard let history else { return }
        let (events, topics) = view.take()
        await history.append(events)
        if !topics.isEmpty { broadcast?.send(.changed(topics)) }
    }

    /// Writes what waits in memory, in chunks: a capture at full speed gives more at once than memory may hold.
    func writeNotifications() async {
        // A disk that is full is not asked again with each message of a source.
        guard nextWrite.map({ $0 <= .now }) ?? true else { return }
        var chunk = Self.chunk
        while !pending.notifications.isEmpty {
            let oldest = Array(pending.notifications.prefix(chunk))
            do {
                try await writer.write(oldest)
                pending.removeFirst(oldest.count)
                if nextWrite != nil { logger.notice("notifications are written again") }
                nextWrite = nil
            } catch let error as EventStoreError where error.code == .invalid {
                // One of them can never be written, and holds up those behind it.
                if chunk > 1 {
                    chunk = 1
                    continue
                }
                pending.loseFirst()
                chunk = Self.chunk
                logger.error("a notification is lost: \(error)")
            } catch {
                if nextWrite == nil { logger.error("cannot write notifications: \(error); they wait in memory") }
                nextWrite = .now + Self.writePause
                return
            }
        }
    }

    /// Makes the last attempts to write the notifications that wait in memory.
    func writePending() async {
        for _ in 0..<5
        where !pending.notifications.isEmpty || !isPresenceSaved || !unlaunched.isEmpty || view.hasUnwritten {
            nextWrite = nextWrite.map { min($0, .now) }
            await settle()
            if !pending.notifications.isEmpty { try? await Task.sleep(for: .seconds(1)) }
        }
        if !pending.notifications.isEmpty {
            logger.error("\(pending.notifications.count) notifications are lost: they could not be written")
            pending.loseAll()
        }
        publish()
    }
}
