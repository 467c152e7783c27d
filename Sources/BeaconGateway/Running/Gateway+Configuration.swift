import BeaconApplications
import BeaconDelivery
import BeaconEventStore
import BeaconMQTT
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconRelay
import Foundation
import Logging

// Monitoring by the configuration: the beginning, another configuration, and applications. Everything that is equal in
// two configurations continues undisturbed.

extension Gateway {
    /// The time between two attempts to read what was known in the last run.
    private static let readingPause = Duration.milliseconds(500)

    /// The attempts that may fail before the log reports it.
    private static let quietReadings = 5

    /// What this gateway monitors itself: in a fleet, workers monitor and locate.
    private var ownPlan: MonitoringPlan {
        let plan = MonitoringPlan(configuration)
        return fleet == nil ? plan : plan.rangingOnly
    }

    // MARK: - The beginning

    /// Returns the presence of the last run, once it can be read. A region that was inside and begins as unknown would
    /// never be left if its beacons are gone.
    ///
    /// - Returns: nil where the gateway was stopped before.
    func knownPresence() async -> Presence? {
        var attempts = 0
        while !listener.isStopped, !Task.isCancelled {
            do {
                guard let store else { return Presence() }
                let losses = WriteQueue.Losses(of: store)
                let presence = try await Presence(in: store)
                queue.setSaved(presence, losses)
                if attempts > Self.quietReadings {
                    logger.notice("the region states of the last run are read; monitoring begins")
                }
                return presence
            } catch {
                // At first, another program may be reading the file.
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

    /// Reads where receivers are on the plan of the building.
    func readPlan() async {
        guard configuration.suspicions?.rules.needsPositions == true, let state else { return }
        do {
            clones.restore(try await state.buildingPlan().receiverPositions)
        } catch {
            logger.error(
                "cannot read the plan of the building: \(error); clones of beacons are looked for with the positions of the file alone until it is changed"
            )
        }
    }

    /// Begins to monitor, with the states of the last run.
    func begin(with known: Presence) {
        // It has the changes of the console until now.
        let plan = ownPlan
        for (owner, region) in plan.conditions {
            let last = known.regions[owner.label].flatMap { $0.constraint == region.constraint ? $0 : nil }
            // A source that is slow to start, or missing, has said nothing so far; another one's silence is not its.
            let holder = last.flatMap { listener.keeper(of: $0) }
            conditions.monitor(owner, region, assuming: last?.state ?? .unknown, heldBy: holder, in: &listener.core)
            guard let last, last.state != .unknown else { continue }
            if case .region(let name) = owner, let time = last.since {
                reporter.view.restore(.init(state: last.state, time: time, receiver: last.receiver), of: name)
            }
            // Destinations receive the state, which is no notification, as the core publishes it.
            var event = RegionEvent(stateOf: owner, region.constraint, last.state, before: last.state, at: .zero)
            if owner.isRegion { reporter.restore(event) }
            if let id = conditions[owner]?.id { event.state = listener.core.publishedState(of: id) }
            reporter.report(.region(event))
        }
        conditions.range(plan.rangings, in: &listener.core)
        clones.update(&listener.core, for: configuration, plan, isInFleet: fleet != nil)
        if let places = configuration.places, !plan.located.isEmpty {
            conditions.locate(plan, in: places, from: known.places, &listener.core)
            for (beacon, place) in known.places {
                reporter.restore(beacon, in: place, at: listener.newestTime)
            }
            listener.core.awaitBeacons(plan.awaited)
        }
        for destination in reporter.destinations { destination.restored?() }
    }

    // MARK: - Another configuration

    /// Applies changes of the console.
    ///
    /// - Parameters:
    ///   - new: the configuration.
    ///   - revision: the number of the change. The gateway ignores an older one than the newest it has.
    package func apply(_ new: GatewayConfiguration, revision: Int) async {
        await finishBeginning()
        guard revision > self.revision else { return }
        self.revision = revision
        await use(new)
    }

    /// Continues with another configuration.
    func use(_ new: GatewayConfiguration) async {
        let before = configuration
        let renamed = before.renamed(in: new)
        configuration = new
        reporter.configure(new, renamed: renamed)
        let plan = ownPlan
        let (gone, added) = conditions.update(to: plan, in: &listener.core)
        for case .region(let name) in gone { reporter.view.forget(region: name) }
        for owner in added {
            // Destinations may have the state of another region of this name.
            guard let constraint = conditions[owner]?.region.constraint else { continue }
            reporter.report(
                .region(
                    RegionEvent(stateOf: owner, constraint, .unknown, before: .unknown, at: listener.newestTime)))
        }
        for (owner, condition) in conditions.conditions where owner.isRegion {
            // Rules may name a region that they left out before.
            let state = listener.core.knownState(of: condition.id)
            reporter.restore(
                RegionEvent(stateOf: owner, condition.region.constraint, state, before: state, at: .zero))
        }
        if new.places != before.places || !conditions.locatesSame(as: plan) {
            if let places = new.places, !plan.located.isEmpty { reporter.keepPlaces(of: places) }
            conditions.locate(plan, in: new.places, from: reporter.places, &listener.core)
        }
        listener.core.awaitBeacons(plan.awaited)
        clones.update(&listener.core, for: new, plan, isInFleet: fleet != nil)
        clients.rangeRegions(of: new, in: &listener.core)
        queue.isPresenceSaved = false
        updateScanMode()
        await rules?.update(new.launch.rules, renamed: renamed)
        broadcast?.send(.changed([.regions, .places, .rules, .beacons]))
    }

    /// Sets the scan mode of the radios as the requests need it.
    package func updateScanMode() {
        let own = listener.core.scanMode
        // A client of the proxy wants all adverts.
        listener.scan(
            proxy?.isWanted == true ? .ranging : fleet?.scanMode(configuration, beside: own) ?? own)
    }

    // MARK: - Another configuration of the file

    /// Returns whether it can go on with other sources, without a new start.
    ///
    /// Sources that all play at full speed are merged from their beginning to their end, and so no other can come in
    /// between. Once all sources have ended, the run has too.
    package func canContinue(with new: GatewayConfiguration, reopeningSources reopens: Bool) -> Bool {
        guard fleet == nil, !listener.isStopped else { return false }
        let planned = new.sourcesAtOneSpeed(isInFleet: false)
        let live = listener.present
        if !reopens, live.count == planned.count, live.allSatisfy({ planned.contains($0.source.given) }) { return true }
        return pumps.isRunning && planned.contains { $0.specification.isGradual(at: .fastest) } && listener.hasRoom
    }

    /// Continues with another configuration of the file.
    package func reload(_ next: GatewayReload) async {
        await finishBeginning()
        revision = max(revision, next.revision)
        base = next.base
        broadcast = next.broadcast
        reporter.view.isKept = broadcast != nil
        reporter.destinations = next.destinations
        proxy = next.proxy
        listener.hasReportedMissing = false
        await use(next.configuration)
        for destination in next.destinations where next.renewed.contains(destination.destination.name) {
            introduce(destination)
        }
        await exchangeSources(reopeningAll: next.reopensSources)
        await inTurn { await handleEvents() }
    }

    /// Sends the states that are published now to a destination that knows none of them, which is no notification.
    private func introduce(_ destination: ConfiguredDestination) {
        let time = listener.newestTime
        for (owner, condition) in conditions.conditions.sorted(by: { $0.value.id < $1.value.id })
        where owner.isConfigured {
            let state = listener.core.publishedState(of: condition.id)
            guard state != .unknown else { continue }
            destination.receive?(
                .region(RegionEvent(stateOf: owner, condition.region.constraint, state, before: state, at: time)))
        }
        for (beacon, place) in reporter.places.sorted(by: { $0.key < $1.key }) {
            destination.receive?(
                .placed(PlaceEvent(time: time, identity: beacon, state: .inside, place: place, before: place)))
        }
        destination.restored?()
    }

    /// Ends the sources that are gone or have other settings, and opens those that are new or have.
    ///
    /// Those end first, since no adapter can be opened twice. A source that has other settings keeps its receivers,
    /// so that it is like a radio that was away for a moment.
    private func exchangeSources(reopeningAll: Bool) async {
        let planned = plannedSources
        let (kept, gone) = listener.present.reduce(into: ([SourceSettings](), [Int]())) { result, one in
            let isKept = !reopeningAll && planned.contains(one.source.given)
            if isKept { result.0.append(one.source.given) } else { result.1.append(one.number) }
        }
        let opened = planned.filter { !kept.contains($0) }
        guard !gone.isEmpty || !opened.isEmpty else { return }
        pumps.isExchanging = true
        defer {
            pumps.isExchanging = false
            pumps.signal.signal()
        }
        for number in gone { listener.leave(number) }
        for number in gone { await end(listener.sources[number]) }
        // Whatever is opened now would not be stopped.
        guard !listener.isStopped else { return }
        var free = gone
        for settings in opened {
            let number: Int
            if let place = free.firstIndex(where: { listener.sources[$0].given.name == settings.name }) {
                number = free.remove(at: place)
                listener.reopen(number, as: settings, for: configuration.places, proxy)
            } else {
                number = listener.add(settings, for: configuration.places, proxy)
            }
            pumps.waiting.append(number)
            listener.start(number)
        }
        for number in free { listener.remove(number) }
        if opened.contains(where: { $0.specification.canSend }) { sendFrame() }
        broadcast?.send(.changed([.receivers, .advertising]))
    }

    /// Waits until what a source has heard is handled. One that is blocked, in a read from a pipe for instance, is
    /// not waited for.
    private func end(_ source: GatewaySource) async {
        let timer = Task {
            guard (try? await Task.sleep(for: Self.stopTime)) != nil else { return }
            source.runner.channel.finish()
        }
        await source.pumpEnd.wait(after: 0)
        timer.cancel()
    }

    // MARK: - Applications

    /// Monitors the regions and conditions of an application that does not run, from the states that it knows.
    func monitor(for application: TerminatedApplication) {
        for trigger in application.triggers {
            conditions.monitor(
                .application(application.identity, trigger.id), MonitoredRegion(trigger.constraint),
                assuming: trigger.state, in: &listener.core)
        }
        updateScanMode()
    }

    /// Ends the monitoring for an application: it runs, or is no longer registered.
    func forget(_ application: TerminatedApplication) {
        for trigger in application.triggers {
            conditions.forget(.application(application.identity, trigger.id), in: &listener.core)
        }
        updateScanMode()
    }
}

extension RegionEvent {
    /// Creates the state of an owner's region, which is no notification.
    init(
        stateOf owner: ConditionOwner, _ constraint: BeaconConstraint, _ state: RegionState, before: RegionState,
        at time: Timestamp
    ) {
        self.init(
            .state, name: owner.name, constraint: constraint, time: time, receiver: nil, state: state, before: before)
    }
}
