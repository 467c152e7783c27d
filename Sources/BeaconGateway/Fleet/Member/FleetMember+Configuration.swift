import BeaconEngine
import BeaconFleet
import BeaconModel
import BeaconSupport
import Foundation
import Logging

extension FleetMember {
    // MARK: - Following

    /// Follows the fleet's configuration, or publishes the configuration of this machine if that is newer.
    func followConfiguration() async throws {
        // One at a time: an older configuration that took longer would undo a newer one.
        try await configurationTurn.run { try await followNewest() }
    }

    private func followNewest() async throws {
        // If this machine has published, it reads the result: of two machines that publish, one wins.
        for _ in 0..<2 {
            let known = await newestConfiguration()
            let entry = try await exchange.entry(.configuration)
            let found = try entry.map { try read($0) }
            if let found, !found.isOlder(than: known) {
                guard found != shared else { return }
                return try await use(found)
            }
            let isFile = known.revision == FleetConfiguration.ofFile
            guard settings.works || !isFile else { return }
            var new = known
            if isFile, !new.items.isEmpty { new.revision += 1 }
            // A conflict can also mean that a server that is no longer the leader gave an old answer.
            if try await replace(entry, by: new), !isFile {
                logger.warning(
                    "the fleet's servers had lost the newest configuration; this machine has published it again: \(new.items.count) regions, places and beacons"
                )
            }
        }
    }

    private func read(_ entry: FleetEntry) throws -> FleetConfiguration {
        if let readConfiguration, readConfiguration.entry == entry { return readConfiguration.configuration }
        let configuration = try FleetConfiguration(entry.value, at: entry.revision)
        readConfiguration = (entry, configuration)
        return configuration
    }

    /// Writes the fleet's configuration; false if another machine has written it before.
    private func replace(_ entry: FleetEntry?, by new: FleetConfiguration) async throws -> Bool {
        do {
            _ = try await exchange.put(try new.encoded(), for: .configuration, replacing: entry?.revision ?? 0)
            return true
        } catch let error as FleetError where error.code == .conflict {
            return false
        }
    }

    /// Returns the newest configuration that this machine knows: the fleet's, in this run or before, or that of its
    /// file.
    private func newestConfiguration() async -> FleetConfiguration {
        if let shared { return shared }
        return await audience.stored(.fleetConfiguration).flatMap { try? FleetConfiguration($0) }
            ?? FleetConfiguration(
                revision: FleetConfiguration.ofFile, partitions: settings.partitions, items: ownItems)
    }

    private func use(_ shared: FleetConfiguration) async throws {
        let revision = shared.revision
        // Stored first, so that no machine decides by a configuration that it could forget.
        await audience.save(try shared.encoded(), for: .fleetConfiguration)
        items = shared.items
        let new = base.adding(items)
        let plan = MonitoringPlan(new, isShared: true)
        let partitions = FleetPartitions(
            plan.conditions.map(\.region.constraint) + plan.located, count: shared.partitions)
        (configuration, self.partitions, plannedRevision) = (new, partitions, revision)
        reportDifference()
        for owner in works.values where owner.work != nil { try await monitor(new, in: owner, partitions) }
        await audience.follow(new, partitions)
        // Set last: from here on, decisions of this revision are shown and delivered.
        configurationRevision = revision
        self.shared = shared
    }

    /// Applies another configuration to a partition. Another partition may already know a region that is new here.
    func monitor(
        _ new: GatewayConfiguration, in owner: PartitionOwner, _ partitions: FleetPartitions
    ) async throws {
        let plan = PartitionWork.Plan(new, of: owner.partition, in: partitions)
        var reported: [FleetRegionState] = []
        for (label, region) in plan.conditions where owner.regions[label] == nil {
            // If the state cannot be read, this fails and everything is retried: otherwise a region that is inside
            // would be entered again.
            guard let (state, revision) = try await self.region(label) else { continue }
            owner.revisions[.region(label)] = revision
            guard state.beacons == region.constraint else { continue }
            owner.regions[label] = state
            reported.append(state)
        }
        // A region that moves to another partition keeps its state and the receiver that holds it.
        owner.noteHolders()
        for (label, holder) in owner.holders where owner.regions[label].map({ $0.holder != holder }) ?? false {
            owner.regions[label]?.holder = holder
            if plan.conditions[label] == nil { owner.unwritten.insert(.region(label)) }
        }
        await write(owner)
        guard works[owner.partition] === owner else { return }
        owner.configuration = plannedRevision
        owner.named = Set(plan.awaited.map { BeaconConstraint($0) })
        owner.work?.monitor(plan, known: owner.regions, at: clock.now())
        // If a region was monitored before, other machines have forgotten its state.
        for state in reported { notify(state, of: owner) }
        let all = Set(MonitoringPlan(new, isShared: true).conditions.map(\.owner.label))
        for (label, state) in owner.regions where !owner.unwritten.contains(.region(label)) {
            let isMonitored = plan.conditions[label]?.constraint == state.beacons
            guard !isMonitored else { continue }
            owner.regions[label] = nil
            guard !all.contains(label), let revision = owner.revisions.removeValue(forKey: .region(label)) else {
                continue
            }
            // Remove deleted regions, so that a new region of the same name starts without a state.
            try? await exchange.remove(.region(label), at: revision)
        }
    }

    /// Publishes a known state again, for machines that may not know it.
    func notify(_ state: FleetRegionState, of owner: PartitionOwner) {
        guard state.state != .unknown else { return }
        owner.add(
            .region(
                .init(
                    label: state.label, beacons: state.beacons, kind: "state", state: state.state, before: state.state,
                    receiver: state.holder, beacon: nil)),
            at: clock.wall(), by: worker)
    }

    /// Returns the stored state of a region and its revision; nil without a stored state.
    func region(_ label: String) async throws -> (FleetRegionState, UInt64)? {
        let entry = try await exchange.entry(.region(label))
        // After a loss, the entry may be older than the state that this machine has shown.
        if lostThrough > 0, let state = await audience.known(label) { return (state, entry?.revision ?? 0) }
        guard let entry else { return nil }
        guard let state = try? JSONDecoder().decode(FleetRegionState.self, from: Data(entry.value)) else {
            report("cannot read the stored state of the \(label.printable); it starts as unknown")
            return nil
        }
        return (state, entry.revision)
    }

    private func reportDifference() {
        guard !hasReportedDifference else { return }
        let shared = Set(items)
        let own = Set(FleetConfiguration.shared(ownItems))
        let missing = own.subtracting(shared).map { "\($0.kind.rawValue) \($0.name)" }.sorted()
        guard !missing.isEmpty else { return }
        hasReportedDifference = true
        logger.warning(
            "this machine's file differs from the fleet's configuration in \(missing.joined(separator: ", ")); the fleet's is used. Change it in any console, or publish this file with 'beacond fleet publish'"
        )
    }

    /// Changes the configuration of all machines.
    ///
    /// - Returns: the new configuration.
    /// - Throws: ``ItemChange/Failure`` if the change is invalid, ``FleetError`` if the fleet cannot be reached.
    package func change(_ change: ItemChange) async throws -> GatewayConfiguration {
        for _ in 0..<5 {
            // After a loss, this publishes the newest known configuration first.
            try await followConfiguration()
            guard let entry = try await exchange.entry(.configuration) else { break }
            var new = try FleetConfiguration(entry.value, at: entry.revision)
            guard new == shared else { continue }
            new.items = try change.applied(to: new.items, beside: base).items
            new.advance(at: clock.wall())
            // If another machine has changed it, apply this change to the new revision.
            guard try await replace(entry, by: new) else { continue }
            // The change is stored. If this machine cannot follow at once, it does soon.
            try? await followConfiguration()
            return configuration ?? base
        }
        throw FleetError(.unreachable, "cannot change the fleet's configuration at the moment; try again")
    }

    /// Replaces the configuration of all machines with that of the file.
    func publishOwn() async throws {
        let before = try await exchange.entry(.configuration)
        var new =
            try before.map { try FleetConfiguration($0.value, at: $0.revision) }
            ?? FleetConfiguration(revision: FleetConfiguration.ofFile, partitions: settings.partitions, items: [])
        new.items = FleetConfiguration.shared(ownItems)
        new.advance(at: clock.wall())
        _ = try await exchange.put(try new.encoded(), for: .configuration, replacing: before?.revision ?? 0)
    }
}
