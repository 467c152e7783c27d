import BeaconFleet
import BeaconModel
import BeaconSupport
import Foundation
import Logging

/// The value of a lease entry.
private struct Lease: Codable {
    /// The holder, by its ``FleetMember/worker``.
    var worker: String
}

extension FleetMember {
    // MARK: - Partitions

    /// Renews all leases at the same time, so that a slow one does not delay the others.
    ///
    /// - Returns: false if a lease could not be renewed and needs another attempt soon.
    @discardableResult
    func renewAll() async -> Bool {
        guard !isRenewing, isConnected else { return false }
        isRenewing = true
        defer { isRenewing = false }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask { await self.renewDuty() }
            group.addTask { (try? await self.announce()) != nil }
            for partition in works.keys { group.addTask { await self.renew(partition) } }
            var isDone = true
            for await one in group where !one { isDone = false }
            return isDone
        }
    }

    private func renew(_ partition: Int) async -> Bool {
        guard let owner = works[partition] else { return true }
        let sent = clock.now()
        do {
            owner.revision = try await exchange.put(
                owner.value, for: .partition(partition), replacing: owner.revision)
            owner.validUntil = max(owner.validUntil, sent.advanced(by: FleetTiming.ownership))
        } catch let error as FleetError where error.code == .conflict {
            // The answer to an earlier renewal may have been lost.
            let entry: FleetEntry?
            do { entry = try await exchange.entry(.partition(partition)) } catch { return false }
            guard let entry, entry.value == owner.value else {
                lose(owner, because: entry == nil ? "the servers have lost its lease" : "another worker has its lease")
                return true
            }
            owner.revision = entry.revision
            return false
        } catch {
            // There is time for more attempts. ``step()`` gives the partition up if none succeeds.
            return false
        }
        return true
    }

    /// Returns the worker that holds each partition.
    func holders() async throws -> [Int: String] {
        var holders: [Int: String] = [:]
        for entry in try await exchange.entries(.partition) {
            guard let number = Int(entry.name),
                let lease = try? JSONDecoder().decode(Lease.self, from: Data(entry.value))
            else { continue }
            holders[number] = lease.worker
        }
        return holders
    }

    /// Takes this worker's share of the partitions, and returns partitions beyond it.
    func balance() async throws {
        guard let partitions, configuration != nil else { return }
        // After a loss, go back in the log first: then this machine knows the states that the servers have lost.
        if let last = trail.last, try await !exchange.contains(last) {
            logged.signal()
            return
        }
        for partition in works.keys where partition >= partitions.count { await release(partition) }
        let workers = try await exchange.entries(.worker).map(\.name)
        let holders = try await holders()
        for (partition, holder) in holders where holder == worker && works[partition] == nil {
            // This worker holds the lease because an answer was lost, but does not work on the partition.
            guard let entry = try await exchange.entry(.partition(partition)) else { continue }
            try? await exchange.remove(.partition(partition), at: entry.revision)
        }
        let plan = LeasePlan(of: partitions.count, holders: holders, workers: Set(workers), me: worker)
        for partition in plan.releases { await release(partition) }
        var failure: (any Error)?
        for partition in plan.claims where works[partition] == nil {
            // A partition that cannot be taken does not prevent taking others.
            do { try await claim(partition) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// Takes a partition over if no other worker holds it.
    private func claim(_ partition: Int) async throws {
        let value = Array(try JSONEncoder().encode(Lease(worker: worker)))
        let sent = clock.now()
        let epoch: UInt64
        do {
            epoch = try await exchange.put(value, for: .partition(partition), replacing: 0)
        } catch let error as FleetError where error.code == .conflict {
            return
        }
        let owner = PartitionOwner(
            partition: partition, epoch: epoch, value: value,
            validUntil: sent.advanced(by: FleetTiming.ownership))
        works[partition] = owner
        do {
            guard try await takeOver(owner) else {
                works[partition] = nil
                owner.end()
                try? await exchange.remove(.partition(partition), at: owner.revision)
                return
            }
            logger.info("this machine owns partition \(partition)")
        } catch {
            if works[partition] === owner { works[partition] = nil }
            owner.end()
            try? await exchange.remove(.partition(partition), at: owner.revision)
            throw error
        }
    }

    /// Locks out previous owners, reads the stored state, and starts to monitor.
    ///
    /// - Returns: false if another worker has the partition by then.
    private func takeOver(_ owner: PartitionOwner) async throws -> Bool {
        guard try await fence(owner) else { return false }
        guard let configuration, let partitions else { return false }
        let begun = plannedRevision
        let plan = PartitionWork.Plan(configuration, of: owner.partition, in: partitions)
        owner.named = Set(plan.awaited.map { BeaconConstraint($0) })
        try await readKnown(owner, plan)
        // Messages queue up until monitoring starts: receivers repeat nothing.
        let (received, partition) = (received, owner.partition)
        owner.listening = try exchange.listen(to: partition) {
            received.add(.heard(partition: partition, relay: $0, message: $1))
        }
        let now = clock.now()
        guard works[partition] === owner, now < owner.validUntil else { return false }
        var known = PartitionWork.Known(regions: owner.regions)
        for place in owner.places.values {
            if let beacon = place.beacon.identity, let name = place.place { known.places[beacon] = name }
        }
        let wall = clock.wall()
        owner.configuration = begun
        owner.work = PartitionWork(plan, known: known, at: now, wallOffset: wall.since(now))
        // As after a restart, publish states again that were unknown to others until now.
        for state in owner.regions.values.sorted(by: { $0.label < $1.label })
        where state.published == .unknown && plan.conditions[state.label] != nil {
            notify(state, of: owner)
        }
        let epoch = owner.epoch
        try await configurationTurn.run { try await followPlanned(since: begun, in: partition, epoch: epoch) }
        return works[partition] === owner
    }

    /// Applies a configuration that arrived while the states of a partition were read.
    private func followPlanned(since begun: UInt64, in partition: Int, epoch: UInt64) async throws {
        guard plannedRevision != begun, let configuration, let partitions else { return }
        guard let owner = works[partition], owner.epoch == epoch else { return }
        try await monitor(configuration, in: owner, partitions)
    }

    /// Writes into the log that this worker has taken over. From then on the log rejects messages of previous owners.
    private func fence(_ owner: PartitionOwner) async throws -> Bool {
        for _ in 0..<8 {
            let last = try await exchange.lastMessage(of: owner.partition)
            if let last, let transition = try? FleetTransition(last.value), transition.epoch >= owner.epoch {
                // Another worker owns it now; or the servers lost the leases, but not the log.
                guard try await exchange.entry(.partition(owner.partition))?.value == owner.value else { return false }
                owner.epoch = transition.epoch &+ 1
            }
            let takeover = FleetTransition(
                partition: owner.partition, epoch: owner.epoch, number: 0, worker: worker,
                configuration: configurationRevision, time: clock.wall().nanoseconds, content: .takeover)
            do {
                owner.sequence = try await exchange.append(
                    try takeover.encoded(), to: owner.partition, id: takeover.id, after: last?.sequence ?? 0)
                return true
            } catch let error as FleetError where error.code == .conflict {
                // The previous owner wrote at the same time.
                continue
            }
        }
        return false
    }

    /// Reads the stored state: the entries, and messages of the log that are newer than the entries.
    private func readKnown(_ owner: PartitionOwner, _ plan: PartitionWork.Plan) async throws {
        let labels = Set(plan.conditions.keys)
        // Read it before the states, which may include more.
        let shown = followed ?? 0
        for label in plan.conditions.keys {
            guard let (state, revision) = try await region(label) else { continue }
            owner.regions[label] = state
            owner.revisions[.region(label)] = revision
        }
        if let entry = try await exchange.entry(.holders(owner.partition)) {
            owner.holders = (try? JSONDecoder().decode([String: String].self, from: Data(entry.value))) ?? [:]
            owner.revisions[.holders(owner.partition)] = entry.revision
        }
        if plan.places != nil, let partitions {
            for entry in try await exchange.entries(.place) {
                guard let state = try? JSONDecoder().decode(FleetPlaceState.self, from: Data(entry.value)),
                    partitions.partition(of: state.beacon) == owner.partition
                else { continue }
                owner.places[state.beacon] = state
                owner.revisions[.place(state.beacon.description)] = entry.revision
            }
            let known = lostThrough > 0 ? await audience.knownPlaces() : []
            for state in known where partitions.partition(of: state.beacon) == owner.partition {
                owner.places[state.beacon] = state
            }
        }
        let checkpoint = try await exchange.entry(.checkpoint(owner.partition))
        owner.revisions[.checkpoint(owner.partition)] = checkpoint?.revision
        // The entry may be wrong; never go beyond the log.
        owner.checkpoint = min(
            checkpoint.flatMap { UInt64(String(decoding: $0.value, as: UTF8.self)) } ?? 0, owner.sequence)
        if lostThrough > 0 {
            // The entries may be as old as the log, and this machine knows more.
            owner.keepStates(afterLossFrom: shown)
            owner.checkpoint = shown
        }
        var next = owner.checkpoint + 1
        let end = owner.sequence
        while next < end, let message = try await exchange.message(from: next, of: owner.partition),
            message.sequence < end
        {
            next = message.sequence + 1
            guard let transition = try? FleetTransition(message.value) else { continue }
            // Skip a region that belongs to another partition now; its state continues there.
            if case .region(let change) = transition.content, !labels.contains(change.label) { continue }
            owner.note(transition, at: message.sequence)
        }
        for (label, holder) in owner.holders where owner.regions[label]?.state == .inside {
            owner.regions[label]?.holder = holder
        }
    }

    /// Gives a partition back, once its changes are written.
    func release(_ partition: Int) async {
        guard let owner = works[partition] else { return }
        owner.noteHolders()
        await write(owner)
        // The next worker finds out about unwritten changes itself.
        guard works[partition] === owner else { return }
        works[partition] = nil
        owner.end()
        try? await exchange.remove(.partition(partition), at: owner.revision)
        logger.info("this machine leaves partition \(partition) to another")
    }

    // MARK: - Delivery duty

    /// Renews the lease for delivering, if this machine holds it.
    private func renewDuty() async -> Bool {
        guard let duty, let value = try? Array(JSONEncoder().encode(Lease(worker: worker))) else { return true }
        let sent = clock.now()
        do {
            let revision = try await exchange.put(value, for: .delivery, replacing: duty.revision)
            self.duty = (revision, sent.advanced(by: FleetTiming.ownership))
        } catch let error as FleetError where error.code == .conflict {
            // The answer to an earlier renewal may have been lost.
            let entry: FleetEntry?
            do { entry = try await exchange.entry(.delivery) } catch { return false }
            guard let entry, entry.value == value else {
                endDuty()
                return true
            }
            self.duty?.revision = entry.revision
            return false
        } catch {
            if clock.now() >= duty.validUntil { endDuty() }
            return false
        }
        return true
    }

    private func beginDuty(_ revision: UInt64, sent: Timestamp) {
        duty = (revision, sent.advanced(by: FleetTiming.ownership))
        delivered = nil
        dutyNumber += 1
        logger.notice("this machine delivers for the fleet")
        shown.signal()
    }

    private func endDuty() {
        (duty, delivered) = (nil, nil)
        logger.notice("this machine no longer delivers for the fleet")
    }

    /// Takes the lease for delivering, if no machine holds it.
    func takeDuty() async throws {
        let value = Array(try JSONEncoder().encode(Lease(worker: worker)))
        let sent = clock.now()
        do {
            let revision = try await exchange.put(value, for: .delivery, replacing: 0)
            beginDuty(revision, sent: sent)
        } catch let error as FleetError where error.code == .conflict {
            // The lease is taken. If this machine holds it because an answer was lost, it continues with it.
            if let entry = try await exchange.entry(.delivery), entry.value == value {
                let again = clock.now()
                let revision = try await exchange.put(value, for: .delivery, replacing: entry.revision)
                beginDuty(revision, sent: again)
            }
        }
    }

    /// Releases all leases, so that others need not wait for them to expire.
    func leave() async {
        step()
        await withTaskGroup(of: Void.self) { group in
            for partition in works.keys { group.addTask { await self.release(partition) } }
        }
        if let workerRevision { try? await exchange.remove(.worker(worker), at: workerRevision) }
        if let duty { try? await exchange.remove(.delivery, at: duty.revision) }
        duty = nil
        if let entry = try? await exchange.entry(.member(settings.node)) {
            try? await exchange.remove(.member(settings.node), at: entry.revision)
        }
    }
}
