import BeaconDelivery
import BeaconEventStore
import BeaconModel
import BeaconMonitoring
import Foundation
import Logging

/// What a gateway writes, in this order: the history, and then notifications with the presence that they lead to.
extension Gateway {
    /// Writes what waits. What cannot be written now is tried again with what comes next: the sources give the time each
    /// second.
    func write() async {
        await writeHistory()
        await writeNotifications()
        // Files and simulations at full speed can wait, and lose nothing.
        while canWait, !pending.notifications.isEmpty, !isStopped {
            try? await Task.sleep(for: Self.writePause)
            await writeNotifications()
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

    /// Keeps the events before the states that they lead to: an end in between repeats a change, and loses none.
    func writeHistory() async {
        guard let history else { return }
        let (events, topics) = view.take()
        await history.append(events)
        if !topics.isEmpty { broadcast?.send(.changed(topics)) }
    }

    /// Writes the notifications that wait, and the presence that they lead to, as one: a change is repeated by a restart
    /// where nothing of it was written, and else is known.
    func writeNotifications() async {
        // A disk that is full is not asked again with each message of a source.
        guard nextWrite.map({ $0 <= .now }) ?? true else { return }
        if let recovery = await store?.recovery, recovery != storeRecovery {
            storeRecovery = recovery
            savedPresence = Presence()
            isPresenceSaved = false
        }
        // In a fleet, what was known before it stays for when the machine is alone again.
        let isPresenceDue = !isPresenceSaved && store != nil && fleet == nil
        guard !pending.notifications.isEmpty || isPresenceDue else { return }
        let presence = isPresenceDue ? presence : savedPresence
        let notifications = pending.notifications
        // What changes while it is written is written next.
        if isPresenceDue { isPresenceSaved = true }
        do {
            try await writer.write(notifications, changing: presence.changes(since: savedPresence))
            pending.removeFirst(notifications.count)
            savedPresence = presence
            if nextWrite != nil { logger.notice("notifications and region states are written again") }
            nextWrite = nil
        } catch {
            if isPresenceDue { isPresenceSaved = false }
            if let error = error as? EventStoreError, error.code == .invalid {
                await writeEach(notifications)
            } else {
                if nextWrite == nil {
                    logger.error("cannot write notifications and region states: \(error); they wait in memory")
                }
                nextWrite = .now + Self.writePause
            }
        }
    }

    /// Writes notifications one by one, of which some can never be written and hold up those behind them. The presence
    /// is written with the next.
    private func writeEach(_ notifications: [BeaconNotification]) async {
        for notification in notifications {
            do {
                try await writer.write([notification], changing: [])
                pending.removeFirst(1)
            } catch let error as EventStoreError where error.code == .invalid {
                pending.loseFirst()
                logger.error("a notification is lost: \(error)")
            } catch {
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
