import BeaconDelivery
import BeaconMQTT
import BeaconModel
import BeaconMonitoring

// The change to another configuration of the file. Everything that is equal in both continues undisturbed.

/// Another configuration, and the parts that were made for it.
struct GatewayReload: Sendable {
    /// The configuration of the file.
    var base: GatewayConfiguration
    /// The same with the items of the console.
    var configuration: GatewayConfiguration
    /// The number of the newest change in the console that is part of it.
    var revision: Int
    /// The destinations. One that stays is the same object as before.
    var destinations: [ConfiguredDestination]
    /// The names of destinations with a new connection, which know no state.
    var renewed: Set<String> = []
    /// The way of adverts to others; nil for none.
    var proxy: ProxyServer?
    /// True to open all sources again, since their adverts go to another proxy.
    var reopensSources = false
    /// Keeps the events for a console; nil without a console.
    var broadcast: EventBroadcast?
}

extension Gateway {
    /// Returns whether it can go on with other sources, without a new start.
    ///
    /// Sources that all play at full speed are merged from their beginning to their end, and so no other can come in
    /// between. Once all sources have ended, the run has too.
    func canContinue(with new: GatewayConfiguration, reopeningSources reopens: Bool) -> Bool {
        guard fleet == nil, !isStopped else { return false }
        let planned = plannedSources(of: new, isReported: false)
        let live = sources.filter { !$0.isRemoved }
        if !reopens, live.count == planned.count, live.allSatisfy({ planned.contains($0.given) }) { return true }
        return isPumping && planned.contains { $0.specification.isGradual(at: .fastest) }
            && receivers.count < Self.mostReceivers
    }

    /// The most receivers over all reloads: the number of each is its alone, of 16 bits.
    private static let mostReceivers = 20_000

    /// Continues with another configuration of the file.
    func reload(_ next: GatewayReload) async {
        revision = max(revision, next.revision)
        base = next.base
        broadcast = next.broadcast
        view.isKept = broadcast != nil
        destinations = next.destinations
        if proxy !== next.proxy { proxy = next.proxy }
        hasReportedReceivers = false
        await use(next.configuration)
        for destination in destinations where next.renewed.contains(destination.destination.name) {
            introduce(destination)
        }
        await exchangeSources(reopeningAll: next.reopensSources)
        await inTurn { await handleEvents() }
    }

    /// Sends the states that are published now to a destination that knows none of them, which is no notification.
    private func introduce(_ destination: ConfiguredDestination) {
        for (owner, condition) in conditions.sorted(by: { $0.value < $1.value }) where owner.isConfigured {
            let state = core.publishedState(of: condition)
            guard state != .unknown, let constraint = monitored[owner]?.constraint else { continue }
            destination.receive?(
                .region(
                    RegionEvent(
                        .state, name: owner.name, constraint: constraint, time: newestTime, receiver: nil,
                        state: state, before: state)))
        }
        for (beacon, place) in places.sorted(by: { $0.key < $1.key }) {
            destination.receive?(
                .placed(
                    PlaceEvent(time: newestTime, identity: beacon, state: .inside, place: place, before: place)))
        }
        destination.restored?()
    }

    // MARK: - Names

    /// Moves the conditions of regions and beacons that have another name, and the same beacons, to that name. This
    /// is no event.
    ///
    /// - Parameter wanted: the conditions of the new configuration, by owner.
    func moveConditions(to wanted: [ConditionOwner: MonitoredRegion]) {
        let old = monitored.filter { $0.key.isConfigured && wanted[$0.key]?.constraint != $0.value.constraint }
        let new = wanted.filter { monitored[$0.key]?.constraint != $0.value.constraint }
        var moved: [(from: ConditionOwner, to: ConditionOwner)] = []
        for owner in old.keys.sorted(by: { $0.label < $1.label }) {
            let match = new.keys.sorted { $0.label < $1.label }.first { other in
                other.isRegion == owner.isRegion && new[other]?.constraint == old[owner]?.constraint
                    && !moved.contains { $0.to == other }
            }
            if let match { moved.append((owner, match)) }
        }
        // All at once: two may have exchanged their names.
        let before = moved.map { (conditions.removeValue(forKey: $0.from), monitored.removeValue(forKey: $0.from)) }
        // What had the name before, and is other beacons now.
        for move in moved { forget(move.to) }
        for (move, (condition, region)) in zip(moved, before) {
            guard let condition, let region else { continue }
            conditions[move.to] = condition
            monitored[move.to] = region
            owners[condition] = move.to
        }
    }

    // MARK: - Sources

    /// Ends the sources that are gone or have other settings, and opens those that are new or have.
    ///
    /// Those end first, since no adapter can be opened twice. A source that has other settings keeps its receivers,
    /// so that it is like a radio that was away for a moment.
    private func exchangeSources(reopeningAll: Bool) async {
        let planned = plannedSources(of: configuration, isReported: true)
        let gone = sources.indices.filter {
            !sources[$0].isRemoved && (reopeningAll || !planned.contains(sources[$0].given))
        }
        let kept = sources.filter { !$0.isRemoved }.map(\.given).filter { !reopeningAll && planned.contains($0) }
        let opened = planned.filter { !kept.contains($0) }
        guard !gone.isEmpty || !opened.isEmpty else { return }
        isExchanging = true
        defer {
            isExchanging = false
            pumpSignal.signal()
        }
        for number in gone {
            sources[number].isLeaving = true
            setHearing(.interrupted, of: number)
            sources[number].runner.stop()
        }
        for number in gone { await end(sources[number]) }
        // Whatever is opened now would not be stopped.
        guard !isStopped else { return }
        var free = gone
        for settings in opened {
            if let place = free.firstIndex(where: { sources[$0].given.name == settings.name }) {
                reopen(free.remove(at: place), as: settings)
            } else {
                addSource(settings)
            }
            let runner = sources[openedLast].runner
            runner.scan(scanMode)
            runner.start()
        }
        for number in free { remove(number) }
        if opened.contains(where: { $0.specification.canSend }) { sendFrame() }
        broadcast?.send(.changed([.receivers, .advertising]))
    }

    /// Waits until what a source has heard is handled. One that is blocked, in a read from a pipe for instance, is
    /// not waited for.
    private func end(_ source: GatewaySource) async {
        let timer = Task {
            guard (try? await Task.sleep(for: Self.stopTime)) != nil else { return }
            source.runner.messages.finish()
        }
        await source.pumpEnd.wait(after: 0)
        timer.cancel()
    }

    private func reopen(_ number: Int, as settings: SourceSettings) {
        let before = sources[number]
        // Radios share a clock, and so the place of their times.
        let isSameClock = before.given.specification.isRadio && settings.specification.isRadio
        let effective = reserving(settings)
        sources[number].reopen(as: effective, given: settings, runner: makeRunner(for: effective))
        if !isSameClock { sources[number].shift = nil }
        statistics.sources[number].state = .starting
        unpumped.append(number)
        openedLast = number
        setHearing(.interrupted, of: number)
    }

    /// Ends what a source means that the configuration has no longer: others decide about the regions that it kept.
    private func remove(_ number: Int) {
        sources[number].isRemoved = true
        sources[number].isEnded = true
        statistics.sources[number].state = .ended
        for receiver in sources[number].receivers + sources[number].expected.values {
            view.forget(receiver: receiver)
            lists = lists.filter { $0.key.receiver != receiver }
            core.retire(receiver)
            setHearing(.lost, of: receiver)
        }
        sources[number].expected = [:]
    }
}

extension Rule {
    /// Returns the rule with the new names of regions and places.
    func renaming(_ renamed: RenamedItems) -> Rule {
        var rule = self
        rule.regions = regions.map { Set($0.map { renamed.regions[$0] ?? $0 }) }
        rule.places = places.map { Set($0.map { renamed.places[$0] ?? $0 }) }
        return rule
    }
}

extension GatewayConfiguration {
    /// Returns the configuration as it continues an earlier one: its sources keep their client ids and inboxes.
    func continuing(_ earlier: GatewayConfiguration) -> GatewayConfiguration {
        var result = self
        for index in sources.indices {
            guard let same = earlier.sources.first(where: { $0.name == sources[index].name }) else { continue }
            result.sources[index].specification = sources[index].specification.continuing(same.specification)
        }
        return result
    }

    /// Returns the regions and places that have other names in another configuration, with the same beacons and
    /// receivers.
    func renamed(in new: GatewayConfiguration) -> RenamedItems {
        RenamedItems(
            regions: Self.renamed(
                regions.map { ($0.name, $0.region.constraint) }, new.regions.map { ($0.name, $0.region.constraint) }),
            places: Self.renamed(
                (places?.places ?? []).filter { !$0.receivers.isEmpty }.map { ($0.name, Set($0.receivers)) },
                (new.places?.places ?? []).map { ($0.name, Set($0.receivers)) }))
    }

    /// Returns the new names of items whose content is the same, by the old ones.
    private static func renamed<Content: Hashable>(
        _ old: [(name: String, content: Content)], _ new: [(name: String, content: Content)]
    ) -> [String: String] {
        let gone = old.filter { one in !new.contains { $0 == one } }
        var added = new.filter { one in !old.contains { $0 == one } }
        var names: [String: String] = [:]
        for one in gone {
            guard let place = added.firstIndex(where: { $0.content == one.content }) else { continue }
            names[one.name] = added.remove(at: place).name
        }
        return names
    }
}
