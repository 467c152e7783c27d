import BeaconFleet
import BeaconMQTT
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconReceivers
import BeaconRelay
import BeaconSupport
import Foundation
import Logging

/// The sources of a gateway, their receivers, and the core that processes all adverts.
///
/// Sources and receivers have numbers. A source's number is never reused; a receiver's may pass to its successor.
struct GatewayListener: ~Copyable {
    /// The most receivers over all reloads: their numbers have 16 bits.
    static let maximumReceivers = 20_000

    /// The time until a receiver of a place counts as missing, in nanoseconds.
    private static let patience = 30 * Timestamp.nanosecondsPerSecond

    private struct Receiver {
        var source: Int
        /// The index among the source's receivers.
        var place: Int
        /// The name in its source, the unique name, and the name that places, positions and calibrations use for all
        /// adapters of a named source; nil until the source has named it.
        var own: String?
        var name: String?
        /// The key of its name in the source's settings; nil if they cannot name it.
        var key: String?
        var shared: String?
        var identity: ReceiverNames.Receiver?
        var moves = false
        var record = ReceiverRecord()
    }

    var core: MonitoringCore
    var sources: [GatewaySource] = []
    private var receivers: [Receiver] = []
    let names = ReceiverNames()
    /// The machine's name in its fleet; nil for none.
    private let node: String?
    /// The first time of any source. Other sources start at it until time has passed.
    var origin: Timestamp?
    /// The newest time of a source or of another machine of a fleet, by the wall clock.
    var time: Timestamp?
    private(set) var isStopped = false
    private var scanMode = ScanMode.off
    /// True once missing receivers were reported, which happens once per configuration of the file.
    var hasReportedMissing = false
    private var changes = Changes()
    let logger: Logger
    private let makeRunner: @Sendable (SourceSettings, ProxyFeed?) -> any GatewayRunner
    /// The tags that all sources recognize.
    let tags = TagDirectory()

    /// Changes of receivers, for the reporter.
    struct Changes {
        /// Receivers whose reports no longer hold.
        var gone: [ReceiverID] = []
        /// Receivers that hear again or no longer, with the reason as the subject and verb of a sentence.
        var hearing: [(receiver: String, isHearing: Bool, reason: String?, time: Timestamp)] = []
        /// True if a name was numbered, which must be stored.
        var haveNumbers = false
    }

    /// Creates a listener without sources.
    ///
    /// - Parameters:
    ///   - node: the machine's name in its fleet; nil for none.
    ///   - makeRunner: creates the thread of a source.
    init(
        _ core: consuming MonitoringCore, node: String? = nil, logger: Logger,
        makeRunner: @escaping @Sendable (SourceSettings, ProxyFeed?) -> any GatewayRunner
    ) {
        self.core = core
        self.node = node
        self.logger = logger
        self.makeRunner = makeRunner
    }

    /// The configured sources, with their numbers.
    var present: [(number: Int, source: GatewaySource)] {
        sources.enumerated().filter { !$0.element.isRemoved }.map { ($0.offset, $0.element) }
    }

    /// The statistics of sources that were not removed.
    var statistics: [GatewayStatistics.Source] { sources.lazy.filter { !$0.isRemoved }.map(\.statistics) }

    /// The newest time of any source, by the wall clock: the present, except for recordings and simulations.
    var newestTime: Timestamp { time ?? Self.present }

    /// The present, by the wall clock.
    static var present: Timestamp { Timestamp(seconds: Date().timeIntervalSince1970) ?? .zero }

    /// True if another source can be opened.
    var hasRoom: Bool { receivers.count < Self.maximumReceivers }

    /// True if events wait.
    var hasEvents: Bool { sources.contains(where: \.runner.channel.hasElements) }

    // MARK: - Sources

    /// Adds a source, which has not started.
    ///
    /// - Parameters:
    ///   - given: the settings, without room for the receivers that the configuration names.
    ///   - names: the receivers that the configuration names.
    ///   - proxy: the proxy that forwards the adverts.
    /// - Returns: its number.
    @discardableResult
    mutating func add(_ given: SourceSettings, reserving names: Set<String>, _ proxy: ProxyServer?) -> Int {
        let (number, settings) = (sources.count, given.reserving(names, recognizing: tags))
        let receiver = addReceiver(source: number, place: 0)
        sources.append(GatewaySource(settings, given: given, runner: runner(for: settings, proxy), first: receiver))
        setHearing(.interrupted, of: receiver)
        return number
    }

    private func runner(for settings: SourceSettings, _ proxy: ProxyServer?) -> any GatewayRunner {
        let (isLive, isOpen) = (settings.specification.isRadio, settings.specification.admitsStrangers)
        return makeRunner(
            settings,
            proxy?.feed(isLive: isLive, isOpen: isOpen) { [names] in names.name(of: .init($0, of: settings)) })
    }

    /// Opens a source again, with other settings and the same receivers.
    mutating func reopen(_ number: Int, as given: SourceSettings, reserving names: Set<String>, _ proxy: ProxyServer?) {
        // Radios share a clock, so they share the shift.
        let isSameClock = sources[number].given.specification.isRadio && given.specification.isRadio
        let settings = given.reserving(names, recognizing: tags)
        sources[number].reopen(as: settings, given: given, runner: runner(for: settings, proxy))
        if !isSameClock { sources[number].shift = nil }
        // The new settings may give them other names.
        if let names = settings.specification.network?.network.names {
            let renamed = sources[number].receivers.compactMap { receiver -> (String, String)? in
                let known = receivers[Int(receiver.index)]
                guard let own = known.own, let new = known.key.flatMap({ names[$0] }), new != own else { return nil }
                return (own, new)
            }
            sources[number].listener.rename(Dictionary(renamed) { first, _ in first })
        }
        nameReceivers(of: number)
        setHearing(.interrupted, of: number)
    }

    /// Starts to end a source. Its earlier adverts are still handled.
    mutating func leave(_ number: Int) {
        sources[number].isLeaving = true
        setHearing(.interrupted, of: number)
        sources[number].runner.stop()
    }

    /// Removes a source from the configuration: other sources decide on the regions that it held.
    mutating func remove(_ number: Int) {
        sources[number].isRemoved = true
        sources[number].isEnded = true
        sources[number].state = .ended
        for receiver in sources[number].receivers + sources[number].listener.expected {
            changes.gone.append(receiver)
            core.retire(receiver)
            setHearing(.lost, of: receiver)
        }
        sources[number].listener.expectNone()
    }

    /// Stops all sources. Adverts that they have already heard are still handled.
    mutating func stop() {
        isStopped = true
        for source in sources { source.runner.stop() }
    }

    /// Sets the scan mode of the radios, once there are any.
    mutating func scan(_ mode: ScanMode) {
        guard mode != scanMode, !sources.isEmpty else { return }
        scanMode = mode
        for (_, source) in present { source.runner.scan(mode) }
    }

    /// Starts a source that was added to running ones.
    func start(_ number: Int) {
        sources[number].runner.scan(scanMode)
        sources[number].runner.start()
    }

    /// Advertises with the first radio, once there is one.
    func advertise(_ adverts: [OutgoingAdvert]) {
        present.first { $0.source.settings.specification.canSend }?.source.runner.advertise(adverts)
    }

    // MARK: - Receivers

    private mutating func addReceiver(source: Int, place: Int) -> ReceiverID {
        receivers.append(Receiver(source: source, place: place))
        return ReceiverID(UInt16(clamping: receivers.count - 1))
    }

    /// Returns the name of a receiver, which is unique once its source has named it.
    func name(_ receiver: ReceiverID) -> String {
        let receiver = receivers[Int(receiver.index)]
        return receiver.name ?? sources[receiver.source].settings.standInName
    }

    /// Returns the name of a receiver in its source; nil until the source has named it.
    func ownName(of receiver: ReceiverID) -> String? { receivers[Int(receiver.index)].own }

    /// Sets the names of a receiver that its source has named.
    private mutating func setName(_ own: String, of receiver: ReceiverID, at place: Int) {
        let index = Int(receiver.index)
        let number = receivers[index].source
        let settings = sources[number].settings
        let identity = ReceiverNames.Receiver(own, at: place, of: settings)
        if let former = receivers[index].identity, former != identity { names.release(former) }
        let name = names.name(of: identity)
        if name != identity.title, receivers[index].identity != identity {
            changes.haveNumbers = true
            logger.notice(
                "\(own.printable) of \(settings.name) is named \"\(name.printable)\": another receiver has the name \"\(identity.title.printable)\""
            )
        }
        (receivers[index].identity, receivers[index].own) = (identity, own)
        let source = sources[number]
        receivers[index].name = node.map { FleetRelay($0, number: number).receiverName(own, in: source) } ?? name
        let title = self.name(receiver)
        core.recording?.note(.title(receiver, title))
        let shared = names.name(of: .init(own, of: settings))
        receivers[index].shared = shared
        receivers[index].moves = settings.moving.contains(own, name, shared)
        core.setMoves(receivers[index].moves, of: receiver)
    }

    private mutating func nameReceivers(of number: Int) {
        for (place, receiver) in sources[number].receivers.enumerated()
        where place < sources[number].receiverNames.count {
            setName(sources[number].receiverNames[place], of: receiver, at: place)
            core.name(receiver, receivers[Int(receiver.index)].shared ?? name(receiver))
        }
    }

    /// Returns the name of a receiver's source.
    func sourceName(of receiver: ReceiverID) -> String {
        sources[receivers[Int(receiver.index)].source].settings.name
    }

    /// Returns the receiver that held a region in the last run. A source with several receivers may not have named it
    /// yet.
    mutating func keeper(of region: Presence.Region) -> ReceiverID? {
        guard let (number, source) = present.first(where: { $0.source.settings.name == region.source }) else {
            return nil
        }
        guard source.settings.specification.hasReceivers, let name = region.holder else {
            return source.receivers.first
        }
        if let receiver = source.listener.keeper(named: name) { return receiver }
        let receiver = addReceiver(source: number, place: .max)
        setName(name, of: receiver, at: .max)
        sources[number].listener.expect(receiver, named: name)
        setHearing(.interrupted, of: receiver)
        return receiver
    }

    /// Adds the receivers of a source. While the radio is lost, a batch has only a time and names no receivers.
    private mutating func addReceivers(of batch: SourceBatch, from number: Int) {
        guard !batch.receiverNames.isEmpty else { return }
        let settings = sources[number].settings
        let before = sources[number].listener.isRestarted ? sources[number].receivers : []
        var new = receivers.count
        let arrivals = sources[number].listener.meet(
            batch.receiverNames, in: &core, isGrowing: !settings.specification.isRadio,
            title: { [names] in names.name(of: .init($0, of: settings)) }
        ) { _, _ in
            defer { new += 1 }
            return ReceiverID(UInt16(clamping: new))
        }
        guard !arrivals.isEmpty else { return }
        while receivers.count < new { receivers.append(Receiver(source: number, place: .max)) }
        for arrival in arrivals {
            receivers[Int(arrival.receiver.index)].place = arrival.place
            receivers[Int(arrival.receiver.index)].key =
                arrival.place < batch.receiverKeys.count ? batch.receiverKeys[arrival.place] : nil
            setName(batch.receiverNames[arrival.place], of: arrival.receiver, at: arrival.place)
            if case .replaced(let former) = arrival.kind { replace(former, by: arrival.receiver) }
            // The stand-in of the source has its hearing already.
            if arrival.kind != .named { setHearing(sources[number].hearing, of: arrival.receiver) }
        }
        // In a fleet, the name of a machine's only receiver changes with the arrival of another one.
        if node != nil { nameReceivers(of: number) }
        // A reopened source has not named all of them yet.
        for receiver in sources[number].listener.expected where before.contains(receiver) {
            receivers[Int(receiver.index)].place = .max
            setHearing(.interrupted, of: receiver)
        }
        setWallOffsets(of: number, for: arrivals.map(\.receiver))
    }

    /// Replaces a receiver that is gone by another one in its place, perhaps with the same number.
    private mutating func replace(_ former: ReceiverID, by receiver: ReceiverID) {
        changes.gone.append(former)
        guard former != receiver else { return receivers[Int(former.index)].record = ReceiverRecord() }
        if let identity = receivers[Int(former.index)].identity { names.release(identity) }
        setHearing(.lost, of: former)
        receivers[Int(former.index)] = Receiver(source: receivers[Int(former.index)].source, place: .max)
    }

    /// Sets whether a receiver hears.
    mutating func setHearing(_ hearing: MonitoringCore.Hearing, of receiver: ReceiverID) {
        core.setHearing(hearing, of: receiver)
        noteHearing(of: receiver)
    }

    /// Notes in a receiver's record whether it hears, as the core has it.
    private mutating func noteHearing(of receiver: ReceiverID) {
        let number = Int(receiver.index)
        guard let hears = core.hears(receiver), receivers[number].record.update(hears, at: time), !isStopped else {
            return
        }
        changes.hearing.append((name(receiver), hears, sources[receivers[number].source].reason, newestTime))
    }

    /// Sets whether a source hears.
    mutating func setHearing(_ hearing: MonitoringCore.Hearing, of number: Int) {
        sources[number].hearing = hearing
        // Until a source has named its receivers, its stand-in hears nothing.
        let isStandIn = sources[number].settings.specification.hasReceivers && sources[number].receiverNames.isEmpty
        let isOne = sources[number].receivers.count == 1 && !isStandIn
        for receiver in sources[number].receivers {
            // If there are several adapters, some may still be away. A batch specifies it.
            if isOne || hearing != .hearing {
                setHearing(hearing, of: receiver)
            } else if !sources[number].settings.specification.hasReceivers {
                core.setHearing(hearing, of: receiver)
            }
        }
    }

    /// Counts the adverts of each receiver of a source, for the console.
    private mutating func countAdverts(of batch: SourceBatch, by source: GatewaySource) {
        let now = ContinuousClock.now
        for heard in batch.sightings {
            guard let receiver = source.listener.sighting(heard)?.receiver else { continue }
            receivers[Int(receiver.index)].record.count(1, at: now)
            // Another machine may have recognized tags that this one does not know.
            if heard.isOfTag, tags.tags.contains(where: { $0.identity == heard.identity }) {
                receivers[Int(receiver.index)].record.note(tag: heard.identity, at: now)
            }
        }
    }

    /// Returns the changes of receivers since the last call.
    mutating func takeChanges() -> Changes {
        defer { changes = Changes() }
        return changes
    }

    /// Logs receivers of places and positions that no source has. A misspelled name makes everything in its place
    /// unknown.
    mutating func reportMissingReceivers(of configuration: GatewayConfiguration) {
        guard !hasReportedMissing, configuration.places != nil || configuration.suspicions != nil,
            let origin, let time = core.time, time.since(origin) > Self.patience
        else { return }
        hasReportedMissing = true
        let names = Set(receivers.map { $0.shared ?? sources[$0.source].settings.standInName })
        let known = names.sorted().joined(separator: ", ")
        let unplaced = configuration.suspicions?.positions.keys.filter { !names.contains($0) }.sorted() ?? []
        if !unplaced.isEmpty {
            logger.warning(
                "no source has the receiver \(unplaced.joined(separator: ", ")) of \"suspicious\"; there are \(known)")
        }
        let missing = configuration.places?.receiverNames.filter { !names.contains($0) } ?? []
        if !missing.isEmpty {
            logger.warning(
                "no source has the receiver \(missing.joined(separator: ", ")) of a place; there are \(known). Until it appears, beacons that may be in its place are unknown"
            )
        }
    }

    /// Returns the name of a receiver that places use. In a fleet, it begins with the machine.
    private func placeName(_ number: Int) -> String {
        let shared = node == nil ? receivers[number].shared : nil
        return shared ?? name(ReceiverID(UInt16(clamping: number)))
    }

    /// True if a receiver of a running source hears.
    var hears: Bool {
        receivers.contains { $0.record.isHearing == true && sources[$0.source].state == .running }
    }

    /// The receivers by the names that places use. Several with one name count as one.
    var receiverDiagnostics: [String: GatewayDiagnostics.Receiver] {
        var found: [String: GatewayDiagnostics.Receiver] = [:]
        for number in receivers.indices {
            let receiver = receivers[number]
            guard !sources[receiver.source].isRemoved, receiver.place != .max || receiver.own != nil else { continue }
            let name = placeName(number)
            let other = found[name]
            found[name] = GatewayDiagnostics.Receiver(
                hears: other?.hears == true ? true : receiver.record.isHearing ?? other?.hears,
                advertsPerMinute: (other?.advertsPerMinute ?? 0) + receiver.record.rate(at: .now) * 60)
        }
        return found
    }

    /// Returns the receivers, in the order of their arrival.
    func receiverValues(in places: PlacePlan?) -> [ReceiverValue] {
        let offsets = core.learnedOffsets?.receivers ?? [:]
        let (known, now) = (tags.tags.map(\.identity), ContinuousClock.now)
        return receivers.indices.filter { number in
            let receiver = receivers[number]
            return !sources[receiver.source].isRemoved && (receiver.place != .max || receiver.own != nil)
        }.map { number in
            let (record, source) = (receivers[number].record, sources[receivers[number].source])
            let name = name(ReceiverID(UInt16(clamping: number)))
            let (shared, placeName) = (receivers[number].shared ?? name, placeName(number))
            return ReceiverValue(
                name: name, source: source.settings.name, key: receivers[number].key,
                hearing: record.isHearing.map { $0 ? "hearing" : "deaf" } ?? "unknown", since: record.since?.seconds,
                reason: record.isHearing == false ? source.reason : nil,
                advertsPerSecond: (record.rate(at: now) * 10).rounded() / 10,
                place: places?.places.first { $0.receivers.contains(placeName) }?.name,
                moves: receivers[number].moves, offset: offsets[shared].map { OffsetsValue.rounded($0) },
                tags: ReceiverValue.Tags(
                    // A file or a simulation has no statuses, and passes on everything that it has.
                    record.tags ?? (source.settings.specification.isRadio ? nil : .all),
                    heard: record.count(of: known, at: now)))
        }
    }
}

// The events of sources: adverts with their times, and states.

extension GatewayListener {
    // MARK: - Adverts

    /// Sets the time shift of a source by the first time in a batch.
    mutating func place(_ batch: SourceBatch, of number: Int) {
        guard sources[number].shift == nil, let time = batch.sightings.first?.time ?? batch.time else { return }
        // Radios share a clock, so they share the shift.
        let sibling = sources.first { $0.settings.specification.isRadio && $0.shift != nil }
        if sources[number].settings.specification.isRadio, let sibling {
            sources[number].shift = sibling.shift
        } else {
            sources[number].begin(at: time, now: core.time ?? origin ?? time)
        }
        if origin == nil { origin = time }
        setWallOffsets(of: number)
    }

    /// Returns the first time of a batch by the core's clock.
    func earliest(_ batch: SourceBatch, _ number: Int) -> Timestamp {
        guard let time = batch.sightings.first?.time ?? batch.time else { return .zero }
        return sources[number].shared(time)
    }

    /// Handles the adverts of a source whose time shift is known.
    ///
    /// - Parameter isCounted: whether the adverts of each receiver are counted.
    /// - Returns: the batch's time, by the core's clock and by the wall clock; nil if it gives none.
    mutating func receive(
        _ batch: SourceBatch, from number: Int, isCounted: Bool
    ) -> (core: Timestamp, wall: Timestamp)? {
        sources[number].count(batch)
        addReceivers(of: batch, from: number)
        let source = sources[number]
        for (receiver, status) in source.listener.statuses(batch.receiverStatuses) {
            setHearing(status.hearing, of: receiver)
            if status.hearing == .doubtful {
                core.confirmHearing(of: receiver, until: source.shared(status.heardUntil))
            }
            core.setSmoothed(status.isSmoothed, of: receiver)
            receivers[Int(receiver.index)].record.tags = status.tags
        }
        if isCounted { countAdverts(of: batch, by: source) }
        core.receive(
            batch.sightings.compactMap { heard in
                guard var sighting = source.listener.sighting(heard) else { return nil }
                sighting.time = source.shared(sighting.time)
                return sighting
            })
        guard let time = batch.time, !isTimeUnreliable(source) else { return nil }
        let (shared, wall) = (source.shared(time), time.advanced(by: source.wallOffset))
        core.advance(upTo: shared)
        // An interruption may last by now, or a receiver in doubt may have heard.
        for number in receivers.indices where receivers[number].record.isHearing != nil {
            noteHearing(of: ReceiverID(UInt16(clamping: number)))
        }
        self.time = max(wall, self.time ?? wall)
        return (shared, wall)
    }

    /// Returns true for a deaf radio beside a working one. A deaf radio cannot know how long the machine was suspended
    /// before the time that it gives; the working radio reports that first.
    private func isTimeUnreliable(_ source: GatewaySource) -> Bool {
        guard source.settings.specification.isRadio, source.hearing != .hearing else { return false }
        return sources.contains { $0.settings.specification.isRadio && !$0.isEnded && $0.hearing == .hearing }
    }

    // MARK: - States of sources

    /// The message when all sources have ended by themselves.
    var closingSummary: String {
        let isSimulated = sources.contains { $0.settings.specification.isSimulation }
        return "all sources have ended; beacond exits once waiting events are delivered"
            + (isSimulated ? "; add ?loop to a simulation's name to repeat it" : "")
    }

    /// Handles an event other than a batch.
    mutating func receive(_ event: SourceEvent, from number: Int) {
        let name = sources[number].settings.name
        if sources[number].isLeaving, isEnd(event) {
            // Another source takes its place. Until then its hearing is unknown.
            sources[number].isEnded = true
            return
        }
        switch event {
        case .heard, .advertising, .forged: return
        case .opened:
            logger.info("listening to \(name)")
            sources[number].state = .running
            sources[number].opened()
            // A radio that takes another's place is treated as the same radio with a new name.
            if sources[number].settings.specification.hasReceivers {
                sources[number].listener.restart()
            } else {
                sources[number].listener.reopen()
            }
        case .state(let state): receive(state, from: number)
        case .deaf(let from, let to, let adapter):
            guard sources[number].shift != nil else { return }
            let (begin, end) = (sources[number].shared(from), sources[number].shared(to))
            // A suspended machine or a stopped process affects all sources, and the first report of it moves the time
            // for all. The core counts no period twice.
            for receiver in deafReceivers(adapter, of: number) { core.skip(from: begin, to: end, of: receiver) }
        case .wallClock(let ahead):
            sources[number].wallOffset = ahead
            setWallOffsets(of: number)
        case .notice(let notice):
            logger.log(level: notice.isTrouble ? .warning : .info, "\(name): \(notice)")
            if notice.kind == .tooManyReceivers { sources[number].crowd = notice.message }
            if notice.kind == .receiversFit { sources[number].crowd = nil }
        case .failed(let error, let retry):
            sources[number].failures += 1
            if let retry {
                sources[number].state = .failing("\(error)")
                logger.error("\(name): \(error.sentence) Trying again in \(Int(retry.components.seconds)) s")
            } else {
                sources[number].state = .failed("\(error)")
                logger.error("\(name): \(error)")
            }
            sources[number].isEnded = retry == nil
            loseHearing(of: number)
        case .ended:
            if sources[number].state == .running { sources[number].state = .ended }
            // A stopped source has not ended by itself.
            if !isStopped { logger.info("\(name) has ended") }
            sources[number].isEnded = true
            loseHearing(of: number)
        }
    }

    private func isEnd(_ event: SourceEvent) -> Bool {
        switch event {
        case .failed, .ended: true
        default: false
        }
    }

    /// Marks the receivers of a source that failed or ended as lost. When all sources have ended, the clock stops and
    /// the states stay as they are, also while the gateway stops one source after another.
    private mutating func loseHearing(of number: Int) {
        if sources.allSatisfy(\.isEnded) {
            if let time = core.time { core.advance(to: time) }
        } else {
            setHearing(isStopped ? .interrupted : .lost, of: number)
        }
    }

    private mutating func receive(_ state: RadioState, from number: Int) {
        let name = sources[number].settings.name
        let outage = sources[number].settings.specification.outage(in: state)
        if let outage, sources[number].state == .running {
            sources[number].state = .failing(outage)
            sources[number].failures += 1
            logger.error("\(name): \(outage); regions keep their state until it is back")
        } else if state == .poweredOn || state == .unknown && sources[number].settings.specification.hasReceivers,
            case .failing = sources[number].state
        {
            sources[number].state = .running
            let isRadio = !sources[number].settings.specification.hasReceivers
            let heard = state == .poweredOn ? "a receiver hears again" : "connected, but no receiver hears yet"
            logger.notice("\(name): \(isRadio ? "the radio is back" : heard)")
        }
        // If a source has several adapters, its next batch specifies which of them hear.
        setHearing(state.hearing, of: number)
    }

    /// Returns the receivers that a deafness concerns: one adapter of a source, or all.
    private func deafReceivers(_ adapter: ReceiverID?, of number: Int) -> [ReceiverID] {
        adapter == nil ? sources.flatMap(\.receivers) : sources[number].listener.receivers(at: adapter)
    }

    /// Sets the wall clock of receivers of a source; nil for all of them.
    private mutating func setWallOffsets(of number: Int, for receivers: [ReceiverID]? = nil) {
        let source = sources[number]
        for receiver in receivers ?? source.receivers {
            core.setWallOffset(source.wallOffset - (source.shift ?? 0), of: receiver)
        }
    }
}
