import BeaconApplications
import BeaconDelivery
import BeaconEventStore
import BeaconMQTT
import BeaconModel
import BeaconMonitoring
import Foundation
import Logging

// What is monitored, ranged and located: at the beginning, after a change in the console, and for applications.

extension Gateway {
    /// Begins to monitor, with the states of the last run.
    func begin(with known: Presence) {
        // What was changed in the console meanwhile is in it.
        let plan = ownPlan(configuration)
        for (owner, region) in plan.conditions {
            let last = known.regions[owner.label].flatMap { $0.constraint == region.constraint ? $0 : nil }
            let before = last?.state
            // A source that is slow to start, or missing, has said nothing so far; another one's silence is not its.
            let holder = last.flatMap { keeper(of: $0) }
            monitor(owner, region, assuming: before ?? .unknown, heldBy: holder)
            guard let last, let before, before != .unknown else { continue }
            if case .region(let name) = owner, let time = last.since {
                view.restore(.init(state: before, time: time, receiver: last.receiver), of: name)
            }
            // Destinations receive the state, which is no notification, as the core publishes it.
            var event = RegionEvent(
                .state, name: owner.name, constraint: region.constraint, time: .zero, receiver: nil, state: before,
                before: before)
            if case .region = owner { _ = policy.receive(.region(event), at: .zero) }
            event.state = conditions[owner].map { core.publishedState(of: $0) } ?? before
            for destination in destinations { destination.receive?(.region(event)) }
        }
        for constraint in plan.rangings where rangings[constraint] == nil {
            rangings[constraint] = core.startRanging(constraint)
        }
        lookForClones(plan)
        located = plan.located
        if let places = configuration.places, !plan.located.isEmpty {
            core.startLocating(places, plan.located)
            for (beacon, place) in known.places.sorted(by: { $0.key < $1.key }) {
                core.setKnownPlace(place, of: beacon)
                self.places[beacon] = place
                view.restore(beacon, in: place, at: newestTime)
            }
            core.awaitBeacons(plan.awaited)
        }
        for destination in destinations { destination.restored?() }
    }

    /// Returns what was known in the last run, once it can be read. A region that was inside and begins as unknown
    /// would never be left if nobody is there any more.
    ///
    /// - Returns: nil where the gateway was stopped before.
    func knownPresence() async -> Presence? {
        var attempts = 0
        while !isStopped, !Task.isCancelled {
            do {
                guard let store else { return Presence() }
                savedPresence = try await Presence(in: store)
                storeRecovery = store.recovery
                if attempts > Self.quietReadings {
                    logger.notice("the region states of the last run are read; monitoring begins")
                }
                return savedPresence
            } catch {
                // At first, somebody else may look at the file just now.
                if attempts == Self.quietReadings {
                    logger.error(
                        "cannot read the region states of the last run: \(error); monitoring begins once they can be read"
                    )
                }
                attempts += 1
                try? await Task.sleep(for: Self.readingPause)
            }
        }
        return nil
    }

    /// Returns the receiver that kept a region in the last run. One of a source with several may not have been heard so
    /// far.
    private func keeper(of region: Presence.Region) -> ReceiverID? {
        guard let number = sources.firstIndex(where: { !$0.isRemoved && $0.settings.name == region.source }) else {
            return nil
        }
        guard sources[number].settings.specification.hasReceivers, let name = region.holder else {
            return sources[number].receivers.first
        }
        if let receiver = sources[number].expected[name] { return receiver }
        let receiver = addReceiver(source: number, place: .max)
        sources[number].expected[name] = receiver
        setHearing(.interrupted, of: receiver)
        return receiver
    }

    func monitor(
        _ owner: ConditionOwner, _ region: MonitoredRegion, assuming state: RegionState,
        heldBy holder: ReceiverID? = nil
    ) {
        forget(owner)
        let condition = core.startMonitoring(region, assuming: state, heldBy: holder)
        owners[condition] = owner
        conditions[owner] = condition
        monitored[owner] = region
    }

    func forget(_ owner: ConditionOwner) {
        guard let condition = conditions.removeValue(forKey: owner) else { return }
        core.stopMonitoring(condition)
        owners[condition] = nil
        monitored[owner] = nil
    }

    /// Returns the beacons of an owner's condition; nil where it has none.
    func constraint(of owner: ConditionOwner) -> BeaconConstraint? { monitored[owner]?.constraint }

    /// Sets the scan mode of the radios to what the requests need.
    func updateScanMode() {
        // Who has the adverts passed on wants those of all that there is.
        let mode = proxy?.isWanted == true ? .ranging : fleetScanMode ?? core.scanMode
        guard mode != scanMode else { return }
        scanMode = mode
        for source in sources where !source.isRemoved { source.runner.scan(mode) }
    }

    // MARK: - Another configuration

    /// Goes on with what was changed in the console. What has not changed notices nothing.
    ///
    /// - Parameters:
    ///   - new: the configuration.
    ///   - revision: the number of the change; one that is older than another that was taken in is passed over.
    func apply(_ new: GatewayConfiguration, revision: Int) async {
        guard revision > self.revision else { return }
        self.revision = revision
        await use(new)
    }

    /// Goes on with another configuration.
    func use(_ new: GatewayConfiguration) async {
        let before = configuration
        let renamed = before.renamed(in: new)
        configuration = new
        names = new.beaconNames
        known = new.beaconsByIdentity
        policy.configure(rules: new.notify, regions: new.notifiedRegions, renamed: renamed.regions)
        ownConstraints = Set(new.notifiedRegions.map(\.constraint))
        view.rename(renamed)
        places = places.mapValues { renamed.places[$0] ?? $0 }
        for destination in destinations { destination.configure?(new, renamed) }
        let plan = ownPlan(new)
        let wanted = Dictionary(plan.conditions.map { ($0.owner, $0.region) }) { first, _ in first }
        moveConditions(to: wanted)
        for (owner, region) in monitored where wanted[owner] != region {
            if case .application = owner { continue }
            if let other = wanted[owner], other.constraint == region.constraint, let condition = conditions[owner] {
                // By other rules, and from the state that it has: nobody came, and nobody left.
                let (state, holder) = (core.knownState(of: condition), core.holder(of: condition))
                monitor(owner, other, assuming: state, heldBy: holder)
                continue
            }
            forget(owner)
            if case .region(let name) = owner { view.forget(region: name) }
        }
        for (owner, region) in plan.conditions where monitored[owner] == nil {
            monitor(owner, region, assuming: .unknown)
            // Destinations may have the state of another region of this name.
            let event = BeaconEvent.region(
                RegionEvent(
                    .state, name: owner.name, constraint: region.constraint, time: newestTime, receiver: nil,
                    state: .unknown, before: .unknown))
            for destination in destinations { destination.receive?(event) }
        }
        for (owner, condition) in conditions where owner.isRegion {
            // Rules may name a region that they left out before.
            guard let region = monitored[owner] else { continue }
            let state = core.knownState(of: condition)
            _ = policy.receive(
                .region(
                    RegionEvent(
                        .state, name: owner.name, constraint: region.constraint, time: .zero, receiver: nil,
                        state: state, before: state)), at: .zero)
        }
        for (constraint, request) in rangings where !plan.rangings.contains(constraint) {
            core.stopRanging(request)
            rangings[constraint] = nil
        }
        for constraint in plan.rangings where rangings[constraint] == nil {
            rangings[constraint] = core.startRanging(constraint)
        }
        if new.places != before.places || plan.located != located { locate(plan) }
        core.awaitBeacons(plan.awaited)
        lookForClones(plan)
        updateRegionRanging()
        isPresenceSaved = false
        updateScanMode()
        await rules?.update(new.launch.rules, renamed: renamed)
        broadcast?.send(.changed([.regions, .places, .rules, .beacons]))
    }

    /// Locates beacons anew, each from where it was known to be.
    func locate(_ plan: MonitoringPlan) {
        located = plan.located
        guard let places = configuration.places, !plan.located.isEmpty else { return core.stopLocating() }
        core.startLocating(places, plan.located)
        for (beacon, place) in self.places.sorted(by: { $0.key < $1.key }) {
            if places.placeNames.contains(place) {
                core.setKnownPlace(place, of: beacon)
            } else {
                self.places[beacon] = nil
            }
        }
    }

    // MARK: - Applications

    /// Monitors the regions and conditions of an application that does not run, from the states that it knows.
    func monitor(for application: TerminatedApplication) {
        for trigger in application.triggers {
            monitor(
                .application(application.identity, trigger.id), MonitoredRegion(trigger.constraint),
                assuming: trigger.state)
        }
        updateScanMode()
    }

    /// Ends the monitoring for an application: it runs, or is not registered any more.
    func forget(_ application: TerminatedApplication) {
        for trigger in application.triggers { forget(.application(application.identity, trigger.id)) }
        updateScanMode()
    }
}
