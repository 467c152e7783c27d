import BeaconFleet
import BeaconModel
import BeaconSupport
import Foundation
import Logging

extension FleetMember {
    // MARK: - Writing

    /// Writes the changes in this machine's partitions.
    func write() async {
        for owner in works.values.sorted(by: { $0.partition < $1.partition }) { await write(owner) }
    }

    func write(_ owner: PartitionOwner) async {
        guard !owner.isWriting else { return }
        owner.isWriting = true
        defer { owner.isWriting = false }
        do {
            while let transition = owner.pending.first {
                // Only the owner writes. The log would reject messages of previous owners too.
                guard works[owner.partition] === owner, clock.now() < owner.validUntil else { return }
                let sequence: UInt64
                do {
                    sequence = try await exchange.append(
                        try transition.encoded(), to: owner.partition, id: transition.id, after: owner.sequence)
                } catch let error as FleetError where error.code == .conflict {
                    let last = try await exchange.lastMessage(of: owner.partition)
                    let other = last.flatMap { try? FleetTransition($0.value) }
                    guard other.map({ $0.epoch <= owner.epoch }) ?? (last == nil) else {
                        return lose(owner, because: "another worker owns it now")
                    }
                    if let last, other?.id == transition.id {
                        // The message is in the log. Its answer was lost so long ago that the log no longer knows its
                        // id.
                        owner.note(transition, at: last.sequence)
                        if !owner.pending.isEmpty { owner.pending.removeFirst() }
                        continue
                    }
                    // The log has removed the last message because of its age, or has lost it. In any other case the
                    // error stands, and the message is tried again later.
                    guard owner.sequence != last?.sequence ?? 0 else { throw error }
                    owner.sequence = last?.sequence ?? 0
                    owner.keepStates(afterLossFrom: owner.sequence)
                    continue
                }
                owner.note(transition, at: sequence)
                // If the partition was lost during the write, nothing is pending.
                if !owner.pending.isEmpty { owner.pending.removeFirst() }
            }
            for key in owner.unwritten {
                guard works[owner.partition] === owner, clock.now() < owner.validUntil else { return }
                try await write(key, of: owner)
            }
            try await writeCheckpoint(of: owner)
        } catch {
            report("cannot write changes at the moment: \(error); they wait in memory")
        }
    }

    /// Writes the state of a region or a place, for the next owner.
    private func write(_ key: FleetKey, of owner: PartitionOwner) async throws {
        let value: [UInt8]
        switch key {
        case .region(let label):
            guard let state = owner.regions[label] else { break }
            value = Array(try JSONEncoder().encode(state))
            return try await put(value, for: key, of: owner)
        case .place(let beacon):
            guard let constraint = BeaconConstraint(beacon), let state = owner.places[constraint] else { break }
            value = Array(try JSONEncoder().encode(state))
            return try await put(value, for: key, of: owner)
        case .holders:
            return try await put(Array(try JSONEncoder().encode(owner.holders)), for: key, of: owner)
        default: break
        }
        owner.unwritten.remove(key)
    }

    private func put(_ value: [UInt8], for key: FleetKey, of owner: PartitionOwner) async throws {
        do {
            owner.unwritten.remove(key)
            owner.revisions[key] = try await exchange.put(value, for: key, replacing: owner.revisions[key] ?? 0)
        } catch {
            owner.unwritten.insert(key)
            guard let error = error as? FleetError, error.code == .conflict else { throw error }
            // The answer to an earlier attempt was lost, or the region was in another partition. Then a later sequence
            // number is another worker's.
            guard let entry = try await exchange.entry(key) else {
                owner.revisions[key] = nil
                return
            }
            let other = (try? JSONDecoder().decode(Sequence.self, from: Data(entry.value)))?.sequence ?? 0
            let own = (try? JSONDecoder().decode(Sequence.self, from: Data(value)))?.sequence ?? .max
            owner.revisions[key] = entry.revision
            // A later entry was written by the region's present partition.
            if other > own { owner.unwritten.remove(key) }
        }
    }

    private struct Sequence: Decodable {
        var sequence: UInt64
    }

    private func writeCheckpoint(of owner: PartitionOwner) async throws {
        guard owner.checkpoint != owner.sequence, owner.unwritten.isEmpty, owner.pending.isEmpty else { return }
        let (key, sequence) = (FleetKey.checkpoint(owner.partition), owner.sequence)
        do {
            owner.revisions[key] = try await exchange.put(
                Array("\(sequence)".utf8), for: key, replacing: owner.revisions[key] ?? 0)
            owner.checkpoint = sequence
        } catch let error as FleetError where error.code == .conflict {
            owner.revisions[key] = try await exchange.entry(key)?.revision
        }
    }

    // MARK: - Following

    /// Shows the changes in the whole fleet since the last call.
    func follow() async {
        guard configurationRevision > 0, !isFollowing else { return }
        isFollowing = true
        let begun = followed
        defer {
            isFollowing = false
            if followed != begun { shown.signal() }
        }
        do {
            guard try await trail.isEmpty ? begin() : isLogKept() else { return }
            while let known = followed, let message = try await exchange.message(from: known + 1, of: nil) {
                if let transition = try? FleetTransition(message.value) {
                    guard try await canFollow(transition) else { break }
                    // After a loss, the log may contain messages again that were shown before.
                    let isKnown = message.sequence <= lostThrough ? await audience.knows(transition) : false
                    if !isKnown { await audience.show(transition) }
                }
                trail.append(FleetPosition(message))
                if trail.count > 2 * Self.trailLength { trail.removeFirst(Self.trailLength) }
            }
            if let last = trail.last, last != noted {
                await audience.save(last.value, for: .fleet)
                noted = last
            }
        } catch {
            report("cannot read the fleet's log at the moment: \(error)")
        }
    }

    /// The number of positions to remember, so that few messages are read again after a loss.
    private static let trailLength = 1_000

    /// Shows the states of regions and places, and adds missed changes to the history.
    private func begin() async throws -> Bool {
        // Read the number first: changes that arrive while the states are read are then shown twice, which is harmless.
        let last = try await exchange.lastSequence()
        try await restoreStates()
        await audience.restored()
        var begin = [FleetPosition.start]
        // A machine that joins gets the changes before it, too: it may have started together with the others.
        var kept: UInt64 = 0
        if let known = await audience.stored(.fleet).flatMap(FleetPosition.init) {
            if try await exchange.contains(known) {
                begin.append(known)
                kept = known.sequence
            } else {
                noteLoss(of: known, after: nil)
            }
        }
        try await keepMissed(after: kept, through: last)
        if last > 0 {
            let message = try await exchange.message(from: last, of: nil)
            begin.append(message.flatMap { $0.sequence == last ? FleetPosition($0) : nil } ?? .init(sequence: last))
        }
        trail = begin
        return true
    }

    /// Returns whether the log contains the last shown message. If not, this machine goes back to the last message that
    /// the log still contains.
    private func isLogKept() async throws -> Bool {
        guard let last = trail.last, try await !exchange.contains(last) else {
            missing = nil
            return true
        }
        // A server that is no longer the leader can give an old answer, so a loss counts when it is read twice.
        guard missing == last else {
            missing = last
            return false
        }
        while let position = trail.last, try await !exchange.contains(position) { trail.removeLast() }
        if trail.isEmpty { trail = [.start] }
        let kept = trail.last?.sequence ?? 0
        missing = nil
        (lostAfter, lostThrough) = (min(lostAfter, kept), max(lostThrough, last.sequence))
        for owner in works.values {
            owner.sequence = min(owner.sequence, kept)
            owner.keepStates(afterLossFrom: kept)
        }
        noteLoss(of: last, after: kept)
        return true
    }

    private func noteLoss(of last: FleetPosition, after kept: UInt64?) {
        let lost = "the fleet's log has lost messages \(kept.map { "\($0 + 1) to" } ?? "up to number") \(last.sequence)"
        loss = (lost, clock.wall())
        logger.error(
            "\(lost): the servers lost data, or their store was replaced. This machine reads the log again and continues; changes in these messages that were not delivered yet are lost"
        )
    }

    private func restoreStates() async throws {
        for entry in try await exchange.entries(.region) {
            guard let state = try? JSONDecoder().decode(FleetRegionState.self, from: Data(entry.value)) else {
                continue
            }
            await audience.restore(state)
        }
        for entry in try await exchange.entries(.place) {
            guard let state = try? JSONDecoder().decode(FleetPlaceState.self, from: Data(entry.value)) else { continue }
            await audience.restore(state)
        }
    }

    /// The most messages to add to the history after an absence of the machine: some seconds of reading.
    private static let maximumMissed: UInt64 = 10_000
    /// The number of messages to write to the history at once.
    private static let missedBatch = 100

    /// Adds changes that happened before this machine read the log to the history. They do not start its programs.
    private func keepMissed(after known: UInt64, through last: UInt64) async throws {
        guard known < last else { return }
        var next = max(known, last - min(last, Self.maximumMissed)) + 1
        var missed: [FleetTransition] = []
        while next <= last, let message = try await exchange.message(from: next, of: nil), message.sequence <= last {
            next = message.sequence + 1
            if let transition = try? FleetTransition(message.value) { missed.append(transition) }
            guard missed.count == Self.missedBatch else { continue }
            await audience.keep(missed)
            await audience.save(FleetPosition(message).value, for: .fleet)
            missed = []
        }
        await audience.keep(missed)
    }

    /// How long to wait for a configuration, in nanoseconds.
    private static let configurationPatience = 60 * Timestamp.nanosecondsPerSecond

    /// Returns whether this machine has the configuration of a transition. Looks for a newer one if not.
    func canFollow(_ transition: FleetTransition) async throws -> Bool {
        if transition.configuration > configurationRevision { try await followConfiguration() }
        guard transition.configuration > configurationRevision else {
            waitsSince = nil
            return true
        }
        let began = waitsSince ?? clock.now()
        waitsSince = began
        guard clock.now().since(began) >= Self.configurationPatience else { return false }
        // The configuration may be lost with the servers' data, so this wait is limited.
        report(
            "an event was decided by an unknown configuration revision; showing the event anyway")
        return true
    }
}
