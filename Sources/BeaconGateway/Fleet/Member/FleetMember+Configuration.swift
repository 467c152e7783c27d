import BeaconEngine
import BeaconFleet
import BeaconModel
import BeaconSupport
import Foundation
import Logging

extension FleetMember {
    // MARK: - Following

    /// Follows what is configured; the first machine of a fleet gives it what it has.
    func followConfiguration() async throws {
        // One at a time: an older one that took longer would undo a newer.
        try await configurationTurn.run { try await followNewest() }
    }

    private func followNewest() async throws {
        if let entry = try await exchange.entry(.configuration) {
            guard entry.revision != configurationRevision else { return }
            // A server that leads no more answers with what was; one whose disk was lost begins its numbers anew, and
            // keeps to it.
            if entry.revision < configurationRevision, lowerRevision != entry.revision {
                lowerRevision = entry.revision
                return
            }
            lowerRevision = nil
            try await use(try FleetConfiguration(entry.value), revision: entry.revision)
        } else if settings.works {
            let shared = FleetConfiguration(partitions: settings.partitions, items: ownItems)
            // Of two that are first, one is.
            _ = try? await exchange.put(try shared.encoded(), for: .configuration, replacing: 0)
            guard let entry = try await exchange.entry(.configuration) else { return }
            try await use(try FleetConfiguration(entry.value), revision: entry.revision)
        }
    }

    private func use(_ shared: FleetConfiguration, revision: UInt64) async throws {
        items = shared.items
        let new = base.adding(items)
        let plan = MonitoringPlan(new, isShared: true)
        let partitions = FleetPartitions(
            plan.conditions.map(\.region.constraint) + plan.located, count: shared.partitions)
        (configuration, self.partitions, plannedRevision) = (new, partitions, revision)
        reportDifference()
        for owner in works.values where owner.work != nil { try await monitor(new, in: owner, partitions) }
        await audience.follow(new, partitions)
        // Last, since what was decided by it is shown and delivered from now on.
        configurationRevision = revision
    }

    /// Goes on with another configuration in a partition. A region that is new here may be known from another
    /// partition.
    func monitor(
        _ new: GatewayConfiguration, in owner: PartitionOwner, _ partitions: FleetPartitions
    ) async throws {
        let plan = PartitionWork.Plan(new, of: owner.partition, in: partitions)
        var reported: [FleetRegionState] = []
        for (label, region) in plan.conditions where owner.regions[label] == nil {
            // Where it cannot be read, all of it is tried again: a region that is inside would be entered anew.
            guard let (state, revision) = try await self.region(label) else { continue }
            owner.revisions[.region(label)] = revision
            guard state.beacons == region.constraint else { continue }
            owner.regions[label] = state
            reported.append(state)
        }
        // What goes to another partition is left there as it is, with the receiver that keeps it.
        owner.noteHolders()
        for (label, holder) in owner.holders where owner.regions[label].map({ $0.holder != holder }) ?? false {
            owner.regions[label]?.holder = holder
            if plan.conditions[label] == nil { owner.unwritten.insert(.region(label)) }
        }
        await write(owner)
        guard works[owner.partition] === owner else { return }
        owner.configuration = plannedRevision
        owner.work?.monitor(plan, known: owner.regions, at: clock.now())
        // Where it was monitored before, others have forgotten its state.
        for state in reported { notify(state, of: owner) }
        let all = Set(MonitoringPlan(new, isShared: true).conditions.map(\.owner.label))
        for (label, state) in owner.regions where !owner.unwritten.contains(.region(label)) {
            let isMonitored = plan.conditions[label]?.constraint == state.beacons
            guard !isMonitored else { continue }
            owner.regions[label] = nil
            guard !all.contains(label), let revision = owner.revisions.removeValue(forKey: .region(label)) else {
                continue
            }
            // What is no more is forgotten, so that another of the name begins anew.
            try? await exchange.remove(.region(label), at: revision)
        }
    }

    /// Has a state told that is known and that others may not know.
    func notify(_ state: FleetRegionState, of owner: PartitionOwner) {
        guard state.state != .unknown else { return }
        owner.add(
            .region(
                .init(
                    label: state.label, beacons: state.beacons, kind: "state", state: state.state, before: state.state,
                    receiver: state.holder, beacon: nil)),
            at: clock.wall(), by: worker)
    }

    /// Returns what is known of a region, and the revision; nil where nothing is.
    func region(_ label: String) async throws -> (FleetRegionState, UInt64)? {
        guard let entry = try await exchange.entry(.region(label)) else { return nil }
        guard let state = try? JSONDecoder().decode(FleetRegionState.self, from: Data(entry.value)) else {
            report("what is known of the \(label.printable) cannot be read; it begins as unknown")
            return nil
        }
        return (state, entry.revision)
    }

    private func reportDifference() {
        guard !hasReportedDifference else { return }
        let shared = Set(items.map(\.asShared))
        let own = Set(ownItems.map(\.asShared))
        let missing = own.subtracting(shared).map { "\($0.kind.rawValue) \($0.name)" }.sorted()
        guard !missing.isEmpty else { return }
        hasReportedDifference = true
        logger.warning(
            "this machine's file differs from what the fleet follows, in \(missing.joined(separator: ", ")); the fleet's is used. Change it in any console, or give the fleet this file's with 'beacond fleet publish'"
        )
    }

    /// Changes what all machines follow.
    ///
    /// - Returns: the configuration from now on.
    /// - Throws: ``ItemChange/Failure`` where it cannot be used, ``FleetError`` where the fleet cannot be reached.
    package func change(_ change: ItemChange) async throws -> GatewayConfiguration {
        for _ in 0..<5 {
            guard let entry = try await exchange.entry(.configuration) else { break }
            var shared = try FleetConfiguration(entry.value)
            shared.items = try change.applied(to: shared.items, beside: base).items
            do {
                _ = try await exchange.put(try shared.encoded(), for: .configuration, replacing: entry.revision)
                // It is changed; where this machine cannot follow at once, it does soon.
                try? await followConfiguration()
                return configuration ?? base
            } catch let error as FleetError where error.code == .conflict {
                // Somebody else has changed it; this change is made to that.
                continue
            }
        }
        throw FleetError(.unreachable, "the fleet's configuration cannot be changed at the moment; try it again")
    }

    /// Gives the fleet what the file has, in place of what all followed.
    func publishOwn() async throws {
        let before = try await exchange.entry(.configuration)
        let count = try before.map { try FleetConfiguration($0.value).partitions } ?? settings.partitions
        _ = try await exchange.put(
            try FleetConfiguration(partitions: count, items: ownItems).encoded(), for: .configuration,
            replacing: before?.revision ?? 0)
    }
}
