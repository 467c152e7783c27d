import BeaconApplications
import BeaconDelivery
import BeaconEngine
import BeaconEventStore
import BeaconMQTT
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconRelay
import Foundation
import Logging

// Monitoring by the configuration: the start, a new configuration, and applications. Everything that is equal in two
// configurations continues undisturbed.

extension Gateway {
    /// The time between two attempts to read the state of the last run.
    private static let readingPause = Duration.milliseconds(500)

    /// The number of failed attempts before the log reports an error.
    private static let quietReadings = 5

    /// The plan for this gateway itself. In a fleet, workers monitor and locate.
    private var ownPlan: MonitoringPlan {
        let plan = MonitoringPlan(configuration)
        return fleet == nil ? plan : plan.rangingOnly
    }

    // MARK: - Start

    /// Returns the presence of the last run, once it can be read. If a region that was inside started as unknown, it
    /// would never be left once its beacons are gone.
    ///
    /// - Returns: nil if the gateway was stopped before.
    func knownPresence() async -> Presence? {
        var attempts = 0
        while !listener.isStopped, !Task.isCancelled {
            do {
                guard let store else { return Presence() }
                let losses = WriteQueue.Losses(of: store)
                let presence = try await Presence(in: store)
                queue.setSaved(presence, losses)
                if attempts > Self.quietReadings {
                    logger.notice("read the region states of the last run; monitoring starts")
                }
                return presence
            } catch {
                // At first, another program may be reading the file.
                if attempts == Self.quietReadings {
                    logger.error(
                        "cannot read the region states of the last run: \(error); monitoring starts once they can be read"
                    )
                }
                attempts += 1
                try? await Task.sleep(for: Self.readingPause)
            }
        }
        return nil
    }

    /// Reads the positions of receivers on the plan of the building.
    func readPlan() async {
        guard configuration.suspicions?.rules.needsPositions == true, let state else { return }
        do {
            clones.restore(try await state.buildingPlan().receiverPositions)
        } catch {
            logger.error(
                "cannot read the plan of the building: \(error); the search for cloned beacons uses only the positions in the file until the plan changes"
            )
        }
    }

    // MARK: - Learned offsets

    /// Starts to learn offsets, from those of the last run; stops it if the configuration says so.
    func startLearningOffsets() async {
        guard configuration.learnsOffsets else { return listener.core.stopLearningOffsets() }
        do {
            listener.core.startLearningOffsets(from: try await state?.learnedOffsets())
        } catch {
            logger.error("cannot read the learned offsets: \(error); they are learned from the beginning")
            listener.core.startLearningOffsets()
        }
    }

    /// Stores the offsets after each fit.
    func keepOffsets() {
        guard let offsets = listener.core.takeNewOffsets() else { return }
        if let value = try? JSONEncoder().encode(offsets) { state?.setSoon(.offsets, to: value) }
        broadcast?.send(.changed([.receivers]))
    }

    // MARK: - Monitoring

    /// Starts to monitor, from the states of the last run.
    func begin(with known: Presence) {
        listener.names.update(for: configuration.sources, restoring: known.receivers)
        // Includes changes made in the console before the start.
        let plan = ownPlan
        recordBeacons()
        for (owner, region) in plan.conditions {
            let last = known.regions[owner.label].flatMap { $0.constraint == region.constraint ? $0 : nil }
            // A source that is slow to start or missing has not been silent. So the region waits for its own receiver.
            let holder = last.flatMap { listener.keeper(of: $0) }
            conditions.monitor(owner, region, assuming: last?.state ?? .unknown, heldBy: holder, in: &listener.core)
            guard let last, last.state != .unknown else { continue }
            if case .region(let name) = owner, let time = last.since {
                reporter.view.restore(.init(state: last.state, time: time, receiver: last.receiver), of: name)
            }
            let published = conditions[owner].map { listener.core.publishedState(of: $0.id) } ?? last.state
            reporter.restore(owner, region.constraint, known: last.state, published: published, at: .zero)
        }
        conditions.range(plan.rangings, in: &listener.core)
        clones.update(&listener.core, for: configuration, plan, isInFleet: fleet != nil)
        if let places = configuration.places, !plan.located.isEmpty {
            conditions.locate(plan, in: places, from: known.places, &listener.core)
            for (beacon, place) in known.places {
                // A place whose beacon is not heard yet is not empty.
                reporter.restore(beacon, in: place, .unknown, at: listener.newestTime)
            }
            listener.core.awaitBeacons(plan.awaited)
        }
        guard let fleet else { return endRestoration() }
        // The fleet's states arrive later, or never if it cannot be reached.
        guard !isRestored else { return }
        fleetTimer = Task { [weak self, logger] in
            guard (try? await Task.sleep(for: fleet.restorationTime)) != nil else { return }
            logger.warning(
                "cannot read the fleet's states after \(fleet.restorationTime); brokers get unknown states until it can be reached"
            )
            await self?.endRestoration()
        }
    }

    /// Ends the restoration of states, once.
    func endRestoration() {
        fleetTimer?.cancel()
        fleetTimer = nil
        guard !isRestored else { return }
        isRestored = true
        for destination in reporter.destinations { destination.restored?() }
    }

    // MARK: - Changes in the console

    /// Applies changes of the console.
    ///
    /// - Parameters:
    ///   - new: the configuration with the items of the console.
    ///   - base: the configuration of the file, if that has changed.
    package func apply(_ new: GatewayConfiguration, base: GatewayConfiguration? = nil) async {
        await finishBeginning()
        if let base { self.base = base }
        await use(new)
    }

    /// Switches to another configuration.
    func use(_ new: GatewayConfiguration) async {
        let before = configuration
        let named = reporter.names
        let renamed = before.renamed(in: new)
        configuration = new
        listener.tags.tags = new.tags
        proxy?.reserve(new.namedReceivers)
        reporter.configure(new, renamed: renamed)
        let plan = ownPlan
        recordBeacons()
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
            // The rules for notifications may name a region that they left out before.
            let state = listener.core.knownState(of: condition.id)
            reporter.restore(
                RegionEvent(stateOf: owner, condition.region.constraint, state, before: state, at: .zero))
        }
        if new.places != before.places || !conditions.locatesSame(as: plan) {
            if let places = new.places, !plan.located.isEmpty { reporter.keepPlaces(of: places) }
            conditions.locate(plan, in: new.places, from: reporter.places, &listener.core)
        }
        // Destinations ignore the places of beacons without a name.
        for beacon in reporter.names.keys.sorted() where named[beacon] == nil {
            guard let event = reporter.presentPlace(of: beacon, at: listener.newestTime) else { continue }
            reporter.report(.placed(event))
        }
        listener.core.awaitBeacons(plan.awaited)
        clones.update(&listener.core, for: new, plan, isInFleet: fleet != nil)
        clients.rangeRegions(of: new, in: &listener.core)
        queue.isPresenceSaved = false
        updateScanMode()
        await rules?.update(new.launch.rules, renamed: renamed)
        await recordRules()
        if new.learnsOffsets != before.learnsOffsets { await startLearningOffsets() }
        broadcast?.send(.changed([.regions, .places, .rules, .beacons]))
    }

    /// Sets the scan mode that the present requests need.
    package func updateScanMode() {
        let own = listener.core.scanMode
        // Clients of the proxy need all adverts.
        listener.scan(
            proxy?.isWanted == true ? .ranging : fleet?.scanMode(configuration, beside: own) ?? own)
    }

    // MARK: - Changes of the file

    /// Returns whether it can switch to other sources without a restart.
    ///
    /// Sources that all play at full speed are merged from beginning to end, so no source can join later. Once all
    /// sources have ended, so has the run.
    package func canContinue(with new: GatewayConfiguration, reopeningSources reopens: Bool) -> Bool {
        guard fleet == nil, !listener.isStopped else { return false }
        let planned = new.sourcesAtOneSpeed(isInFleet: false)
        let live = listener.present
        if !reopens, live.count == planned.count, live.allSatisfy({ planned.contains($0.source.given) }) { return true }
        return pumps.isRunning && planned.contains { $0.specification.isGradual(at: .fastest) } && listener.hasRoom
    }

    /// Switches to another configuration of the file.
    package func reload(_ next: GatewayReload) async {
        await finishBeginning()
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
        handleEvents()
    }

    /// Sends the published states to a new destination, without notifications.
    private func introduce(_ destination: ConfiguredDestination) {
        let time = listener.newestTime
        for (owner, condition) in conditions.conditions.sorted(by: { $0.value.id < $1.value.id })
        where owner.isConfigured {
            let state = listener.core.publishedState(of: condition.id)
            guard state != .unknown else { continue }
            destination.receive?(
                .region(RegionEvent(stateOf: owner, condition.region.constraint, state, before: state, at: time)))
        }
        for event in reporter.located.compactMap({ reporter.presentPlace(of: $0, at: time) }) {
            destination.receive?(.placed(event))
        }
        destination.restored?()
    }

    /// Ends removed and changed sources, then opens new and changed ones.
    ///
    /// In this order, since no adapter can be opened twice. A changed source keeps its receivers, as if its radio had
    /// been away for a short time.
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
        // A source that is opened now would not be stopped.
        guard !listener.isStopped else { return }
        listener.names.update(for: planned)
        var free = gone
        for settings in opened {
            let number: Int
            if let place = free.firstIndex(where: { listener.sources[$0].given.name == settings.name }) {
                number = free.remove(at: place)
                listener.reopen(number, as: settings, reserving: configuration.namedReceivers, proxy)
            } else {
                number = listener.add(settings, reserving: configuration.namedReceivers, proxy)
            }
            pumps.waiting.append(number)
            listener.start(number)
        }
        for number in free { listener.remove(number) }
        if opened.contains(where: { $0.specification.canSend }) { sendFrame() }
        broadcast?.send(.changed([.receivers, .advertising]))
    }

    /// Waits until the adverts of a source are handled, but not for a blocked source, for example in a read from a
    /// pipe.
    private func end(_ source: GatewaySource) async {
        let timer = Task {
            guard (try? await Task.sleep(for: Self.stopTime)) != nil else { return }
            source.runner.channel.finish()
        }
        await source.pumpEnd.wait(after: 0)
        timer.cancel()
    }

    // MARK: - Applications

    /// Monitors the regions and conditions of a terminated application, from the states that the application knows.
    func monitor(for application: TerminatedApplication) {
        for trigger in application.triggers {
            conditions.monitor(
                .application(application.identity, trigger.id), MonitoredRegion(trigger.constraint),
                assuming: trigger.state, in: &listener.core)
        }
        updateScanMode()
    }

    /// Stops monitoring for an application that runs or is no longer registered.
    func forget(_ application: TerminatedApplication) {
        for trigger in application.triggers {
            conditions.forget(.application(application.identity, trigger.id), in: &listener.core)
        }
        updateScanMode()
    }
}

extension RegionEvent {
    /// Creates an event with the state of an owner's region, without a notification.
    init(
        stateOf owner: ConditionOwner, _ constraint: BeaconConstraint, _ state: RegionState, before: RegionState,
        at time: Timestamp
    ) {
        self.init(
            .state, name: owner.name, constraint: constraint, time: time, receiver: nil, state: state, before: before)
        isPresence = !owner.isRegion
    }
}
