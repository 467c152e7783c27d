public import BeaconEngine
public import BeaconModel
public import BeaconRadio
public import Dispatch
import Logging
import Synchronization

/// Joins one radio and the engine for the many clients of one application: it keeps the application's regions across
/// launches, asks the policy what it may know, and lets the radio listen only as hard as somebody needs.
///
/// The center reads no clock. The radio tells the time, so that the same events give the same callbacks, in a test that
/// runs a day in a second as well.
public actor BeaconCenter {
    private struct Client {
        var deliver: @Sendable (ClientEvent) -> Void
        var constraints: Set<BeaconConstraint> = []
        var frame: IBeaconFrame?
        /// Whether the client was told how it went with its frame.
        var isAnswered = false
    }

    private struct Region {
        var registered: RegisteredRegion
        var id: RegionID?
    }

    private struct Ranging {
        var id: RangingID?
        var clients: [ClientID] = []
    }

    private static let ears = ReceiverID(0)

    private let executor = SerialQueueExecutor(label: "swift-beacon.center")
    private let configuration: CenterConfiguration
    private let logger = Logger(label: "swift-beacon.center")
    private let published: Locked<CenterSnapshot>
    private let nextClient = Atomic<UInt64>(0)
    private let nextWatch = Atomic<UInt64>(0)
    /// The newest time that the radio told, in nanoseconds; negative before the first.
    private let newestTime = Atomic<Int64>(-1)
    /// How far the clock on the wall is ahead of the radio's times, in nanoseconds.
    private let wallAhead = Atomic<Int64>(0)
    private let callbacks = CallbackCount()

    private var engine: Engine
    private var radio: (any Radio)?
    private var scanMode = ScanMode.off
    private var advertised: [IBeaconFrame] = []

    private var clients: [ClientID: Client] = [:]
    /// Clients in the order in which they came, which is that of their callbacks.
    private var clientOrder: [ClientID] = []

    private var regions: [Region] = []
    private var regionsByID: [RegionID: String] = [:]
    private var watches: WatchBook
    private var companions: [String: any AnyObject & Sendable] = [:]
    private var rangings: [BeaconConstraint: Ranging] = [:]
    private var rangingsByID: [RangingID: BeaconConstraint] = [:]

    private var status: AuthorizationStatus
    private var radioState = RadioState.unknown
    private var isActive = false
    private var isSaveDue = false

    private var missed: MissedChanges
    private var launchWish: LaunchWish

    /// Whether regions may be written: not over a file that could not be read, which somebody may yet mend.
    private var canSave = true

    /// The queue on which the center works.
    public nonisolated var queue: DispatchQueue { executor.queue }

    /// What runs the center's work: its queue.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// A center that has no radio yet. Regions that were kept from an earlier launch are monitored again.
    public init(_ configuration: CenterConfiguration) {
        self.configuration = configuration
        engine = Engine(configuration: configuration.engine)
        engine.addReceiver(Self.ears)
        watches = WatchBook(limit: configuration.maximumWatches)
        launchWish = LaunchWish(configuration.launchStore, logger)
        var kept: [RegisteredRegion] = []
        // Before the regions are read, so that nobody changes what is waiting meanwhile.
        let changes = launchWish.begin()
        do throws(ServiceError) {
            kept = try configuration.store.load()
        } catch {
            logger.error("the regions of \(configuration.application) are neither read nor written: \(error)")
            canSave = false
        }
        do throws(ServiceError) {
            status = try configuration.policy?.status(of: configuration.application) ?? configuration.initialStatus
        } catch {
            // What was granted cannot be told, so that nothing is.
            logger.error("\(configuration.application) may not know of beacons: \(error)")
            status = .denied
        }
        missed = MissedChanges(changes, &kept)
        regions = kept.map { Region(registered: $0, id: nil) }
        published = Locked(CenterSnapshot(regions: kept, authorization: status, radio: .unknown))
    }

    // MARK: - Without waiting

    /// How things stood when the center last did something.
    public nonisolated var snapshot: CenterSnapshot { published.withLock { $0 } }

    /// The newest time that the radio told; nil before the first.
    public nonisolated var time: Timestamp? {
        let newest = newestTime.load(ordering: .relaxed)
        return newest < 0 ? nil : Timestamp(nanoseconds: newest)
    }

    /// The newest time that the radio told, by the clock on the wall; nil before the first.
    public nonisolated var wallTime: Timestamp? { time.map { onTheWall($0) } }

    private nonisolated func onTheWall(_ time: Timestamp) -> Timestamp {
        time.advanced(by: wallAhead.load(ordering: .relaxed))
    }

    /// Where the application's monitors are kept.
    public nonisolated var monitorStore: any MonitorStore { configuration.monitorStore }

    /// Has `work` done on the center, after all that was handed over before.
    public nonisolated func perform(_ work: @escaping @Sendable (isolated BeaconCenter) -> Void) {
        queue.async { self.assumeIsolated { work($0) } }
    }

    /// A name for a client that is still to be added.
    public nonisolated func makeClientID() -> ClientID {
        ClientID(number: nextClient.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    /// Adds a client. It is told the authorization at once, and what the radio can do if that is known, and then what
    /// concerns it.
    ///
    /// - Parameter deliver: called on the center's queue, one event after another; it should hand the event on.
    public nonisolated func addClient(_ id: ClientID, _ deliver: @escaping @Sendable (ClientEvent) -> Void) {
        perform { $0.add(id, deliver) }
    }

    /// Adds a client whose callbacks are made in a context of its own.
    ///
    /// - Parameter deliver: called in the context, one event after another. While it runs, this center is the current one.
    public nonisolated func addClient(
        _ id: ClientID, in context: CallbackContext, _ deliver: @escaping @Sendable (ClientEvent) -> Void
    ) {
        addClient(id) { [weak self] event in self?.makeCallback(in: context) { deliver(event) } }
    }

    /// Makes a call in a context, after those that are under way. While it runs, this center is the current one.
    public nonisolated func makeCallback(in context: CallbackContext, _ call: @escaping @Sendable () -> Void) {
        let token = callbacks.begin()
        context.perform {
            Self.withCurrent(self) { call() }
            // Until here, and no longer, the callback is under way.
            withExtendedLifetime(token) {}
        }
    }

    /// Whether no callback is under way that was handed to a context.
    public nonisolated var hasNoCallbacksUnderWay: Bool { callbacks.isZero }

    private func add(_ id: ClientID, _ deliver: @escaping @Sendable (ClientEvent) -> Void) {
        clients[id] = Client(deliver: deliver)
        clientOrder.append(id)
        deliver(.authorization(status))
        if radioState != .unknown { deliver(.radio(radioState)) }
        if status.isGranted { tellMissed(deliver) }
        launchWish.update(status: status, hasRegions: !regions.isEmpty)
    }

    /// Tells a new client what happened while the application did not run.
    private func tellMissed(_ deliver: (ClientEvent) -> Void) {
        guard missed.tell(deliver) else { return }
        // The regions first: what is cleared and not yet in them would be lost.
        save()
        if canSave { launchWish.clear() }
    }

    /// Takes a client out, with all that it ranges and advertises. The regions belong to the application and stay.
    public func removeClient(_ id: ClientID) {
        guard let client = clients.removeValue(forKey: id) else { return }
        clientOrder.removeAll { $0 == id }
        for constraint in client.constraints { dropRanging(constraint, of: id) }
        watches.removeAll(of: id, &engine, at: time)
        updateAdvertising()
        update()
        deliver()
    }

    /// Something that clients share and that lives as long as the center, made when it is first asked for.
    ///
    /// - Parameters:
    ///   - name: what it is called. Each kind of thing should begin its names with its own.
    ///   - make: makes it. What is made must not keep the center alive.
    public func companion<Companion: AnyObject & Sendable>(
        _ name: String, _ make: @Sendable (isolated BeaconCenter) -> Companion
    ) -> Companion {
        if let companion = companions[name] as? Companion { return companion }
        let new = make(self)
        companions[name] = new
        return new
    }

    // MARK: - Radio

    /// Uses a radio from now on, and listens to what it tells until it has no more to tell.
    public nonisolated func use(_ radio: some Radio) {
        perform { center in
            center.radio = radio
            // A new radio has been asked for nothing, whatever the one before was.
            center.scanMode = .off
            center.advertised = []
        }
        let events = radio.events()
        Task { [weak self] in
            for await event in events {
                guard let self else { return }
                await self.receive(event)
            }
        }
        perform { center in
            center.update()
            center.updateAdvertising()
        }
    }

    /// Takes in what a radio tells.
    public func receive(_ event: RadioEvent) {
        switch event {
        case .time(let time):
            note(time)
            engine.advance(to: time)
        case .sightings(let sightings):
            if let last = sightings.last { note(last.time) }
            guard isActive else { break }
            for var sighting in sightings {
                // A center is one device with one pair of ears, however many receivers its radio has.
                sighting.receiver = Self.ears
                engine.receive(sighting)
            }
        case .state(let state):
            guard state != radioState else { return }
            radioState = state
            // Published before anybody is told, so that whoever is told and asks hears the same.
            publish()
            tellAll(.radio(state))
            update()
        case .advertising(let result):
            answer(result)
        case .wallClock(let ahead):
            wallAhead.store(ahead, ordering: .relaxed)
        case .notice(let notice):
            logger.log(level: notice.isTrouble ? .warning : .info, "\(notice)", metadata: ["kind": "\(notice.kind)"])
        }
        deliver()
    }

    private func note(_ time: Timestamp) {
        // Only the center writes, so that nothing can come between the two.
        guard time.nanoseconds > newestTime.load(ordering: .relaxed) else { return }
        newestTime.store(time.nanoseconds, ordering: .relaxed)
        missed.note(time)
    }

    // MARK: - Authorization

    /// Asks for a permission; where that changes the status, all clients are told.
    public func request(_ request: AuthorizationRequest) {
        // What an administrator decided, nobody's asking changes.
        guard configuration.policy?.decision(for: configuration.application) == nil else { return }
        setStatus(AuthorizationPolicy.answer(to: request, from: status))
    }

    /// Changes what the application may, as when somebody changes their mind.
    public func setStatus(_ new: AuthorizationStatus) {
        guard new != status else { return }
        do throws(ServiceError) {
            try configuration.policy?.record(new, for: configuration.application)
        } catch {
            logger.error("what \(configuration.application) may is not remembered: \(error)")
        }
        status = new
        update()
        launchWish.update(status: status, hasRegions: !regions.isEmpty)
        tellAll(.authorization(new))
        deliver()
    }

    // MARK: - Regions

    /// Monitors a region, or another one under an identifier that is in use already.
    ///
    /// The client is told that monitoring began, and the state as soon as it is known. That is at once where the same region
    /// is monitored already, as after a restart: apps wait for that state, and would wait for ever.
    public func startMonitoring(_ region: RegisteredRegion, for client: ClientID) {
        var known: RegisteredRegion?
        if let place = regions.firstIndex(where: { $0.registered.identifier == region.identifier }) {
            let old = regions[place].registered
            // The same region again keeps its state; another one under its name begins anew.
            let isSame = old.constraint == region.constraint
            if !isSame { stopEngine(place) }
            regions[place].registered = region
            regions[place].registered.state = isSame ? old.state : .unknown
            if isSame, old.state != .unknown { known = regions[place].registered }
        } else {
            if let most = configuration.maximumRegions, regions.count >= most {
                tell(client, .monitoringFailed(region, .limitExceeded))
                return
            }
            regions.append(Region(registered: region, id: nil))
        }
        changed()
        update()
        tell(client, .started(region))
        if status == .denied || status == .restricted { tell(client, .monitoringFailed(region, .denied)) }
        if let known, status.isGranted { tell(client, .determined(known)) }
        deliver()
    }

    /// Stops monitoring the region of this identifier; harmless where there is none.
    public func stopMonitoring(_ identifier: String) {
        guard let place = regions.firstIndex(where: { $0.registered.identifier == identifier }) else { return }
        stopEngine(place)
        regions.remove(at: place)
        missed.forget(identifier)
        changed()
        update()
    }

    /// Tells a client the state of a region.
    public func requestState(of identifier: String, for client: ClientID) {
        guard let region = regions.first(where: { $0.registered.identifier == identifier }) else { return }
        tell(client, .determined(region.registered))
    }

    /// Tells all clients the state of the regions that want it when somebody looks at the display.
    public func displayDidLightUp() {
        for region in regions where region.registered.notifiesEntryStateOnDisplay && region.registered.state == .inside
        {
            tellAll(.determined(region.registered))
        }
    }

    // MARK: - Watching

    /// A name for something that a client is going to watch.
    public nonisolated func makeWatchID() -> WatchID {
        WatchID(number: nextWatch.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    /// Watches for beacons for a client alone: it is told of changes, and nobody else knows.
    ///
    /// Unlike a region, what is watched is not kept: whoever wants it again in the next launch asks again.
    ///
    /// - Parameters:
    ///   - id: what the reports name it.
    ///   - constraint: which beacons.
    ///   - state: the state as it is known or assumed; the client is told where it turns out to be another.
    ///   - client: who is told.
    public func watch(
        _ id: WatchID, for constraint: BeaconConstraint, assuming state: RegionState = .unknown, client: ClientID
    ) {
        guard clients[client] != nil else { return }
        watches.add(id, constraint, assuming: state, for: client, at: time)
        update()
        deliver()
    }

    /// Stops watching; harmless where nothing of this name is watched.
    public func stopWatching(_ id: WatchID) {
        watches.remove(id, &engine, at: time)
        update()
        deliver()
    }

    // MARK: - Ranging

    /// Tells a client once a second which beacons satisfy a constraint. Doing so twice is the same as once.
    public func startRanging(_ constraint: BeaconConstraint, for client: ClientID) {
        guard clients[client]?.constraints.insert(constraint).inserted == true else { return }
        rangings[constraint, default: Ranging()].clients.append(client)
        update()
        if let failure = rangingFailure { tell(client, .rangingFailed(constraint, failure)) }
    }

    /// Stops telling. Doing so without having begun is harmless.
    public func stopRanging(_ constraint: BeaconConstraint, for client: ClientID) {
        guard clients[client]?.constraints.remove(constraint) != nil else { return }
        dropRanging(constraint, of: client)
        update()
    }

    /// Why nothing can be ranged at the moment; nil where it can, or where the radio has yet to tell.
    private var rangingFailure: RangingFailure? {
        if status == .denied || status == .restricted { return .denied }
        return radioState == .unknown || radioState == .resetting || radioState == .poweredOn ? nil : .radioUnavailable
    }

    private func dropRanging(_ constraint: BeaconConstraint, of client: ClientID) {
        guard var ranging = rangings[constraint] else { return }
        ranging.clients.removeAll { $0 == client }
        if ranging.clients.isEmpty {
            if let id = ranging.id {
                engine.stopRanging(id)
                rangingsByID[id] = nil
            }
            rangings[constraint] = nil
        } else {
            rangings[constraint] = ranging
        }
    }

    // MARK: - Advertising

    /// Sends a frame for a client from now on, or none. How it went comes as an event; a frame that cannot be sent is
    /// taken back.
    public func advertise(_ frame: IBeaconFrame?, for client: ClientID) {
        guard clients[client] != nil else { return }
        clients[client]?.frame = frame
        clients[client]?.isAnswered = false
        updateAdvertising()
        if frame != nil, radio == nil {
            answer(.failure(RadioError(.unsupported, "there is no radio to send with")))
        }
    }

    /// Tells the clients that it concerns how it went. A radio sends the frames of all clients or none of them, and what
    /// it could send yesterday it can send without the frame that is new; so a failure is that of the clients who wait for
    /// an answer. Where none does, the radio failed by itself, and it is everybody's.
    private func answer(_ result: Result<Void, RadioError>) {
        let senders = clientOrder.filter { clients[$0]?.frame != nil }
        let waiting = senders.filter { clients[$0]?.isAnswered == false }
        switch result {
        case .success:
            for id in waiting {
                clients[id]?.isAnswered = true
                tell(id, .advertising(result))
            }
        case .failure:
            for id in waiting.isEmpty ? senders : waiting {
                clients[id]?.frame = nil
                tell(id, .advertising(result))
            }
            updateAdvertising()
        }
    }

    private func updateAdvertising() {
        let frames = clientOrder.compactMap { clients[$0]?.frame }
        guard frames != advertised else { return }
        advertised = frames
        radio?.advertise(frames)
    }

    // MARK: - What is needed

    /// Brings engine and radio in line with what is asked for and allowed.
    private func update() {
        let shouldBeActive = status.isGranted && radioState == .poweredOn
        if shouldBeActive {
            for place in regions.indices where regions[place].id == nil { startEngine(place) }
            watches.activate(&engine, outsideAfter: configuration.outsideAfter)
            for (constraint, ranging) in rangings where ranging.id == nil {
                let id = engine.startRanging(constraint)
                rangings[constraint]?.id = id
                rangingsByID[id] = constraint
            }
        } else if isActive {
            deactivate()
        }
        isActive = shouldBeActive
        let mode = wantedMode
        if mode != scanMode {
            scanMode = mode
            radio?.scan(mode)
        }
        publish()
    }

    private var wantedMode: ScanMode {
        guard status.isGranted else { return .off }
        if !rangings.isEmpty { return .ranging }
        let deployments = watches.deployments.union(regions.map(\.registered.constraint.uuid))
        return deployments.isEmpty ? .off : .watching(deployments)
    }

    /// Nothing can be known any more: regions become unknown, and whoever ranges is told why.
    private func deactivate() {
        // In an order that does not hang on chance.
        for constraint in rangings.keys.sorted(by: { $0.description < $1.description }) {
            guard let ranging = rangings[constraint] else { continue }
            if let id = ranging.id {
                engine.stopRanging(id)
                rangingsByID[id] = nil
                rangings[constraint]?.id = nil
            }
            // Before the states: whoever ranges only while inside stops then, and would not hear why there is nothing more.
            guard let failure = rangingFailure else { continue }
            for client in ranging.clients { tell(client, .rangingFailed(constraint, failure)) }
        }
        watches.deactivate(&engine, at: time)
        for place in regions.indices {
            stopEngine(place)
            guard regions[place].registered.state != .unknown else { continue }
            regions[place].registered.state = .unknown
            changed()
            tellAll(.determined(regions[place].registered))
        }
    }

    private func startEngine(_ place: Int) {
        let registered = regions[place].registered
        let id = engine.startMonitoring(
            MonitoredRegion(registered.constraint, outsideAfter: configuration.outsideAfter),
            assuming: registered.state)
        regions[place].id = id
        regionsByID[id] = registered.identifier
    }

    private func stopEngine(_ place: Int) {
        guard let id = regions[place].id else { return }
        engine.stopMonitoring(id)
        regionsByID[id] = nil
        regions[place].id = nil
    }

    // MARK: - Telling

    /// Hands on what the engine has to say.
    private func deliver() {
        tellWatchers()
        guard engine.hasEvents else { return }
        for event in engine.takeEvents() {
            switch event {
            case .entered(let change): regionChanged(change, to: .inside)
            case .exited(let change), .determined(let change): regionChanged(change, to: .outside)
            case .ranged(let report):
                guard let constraint = rangingsByID[report.ranging] else { continue }
                let beacons = report.beacons.map { beacon in
                    var beacon = beacon
                    beacon.lastHeard = onTheWall(beacon.lastHeard)
                    return beacon
                }
                for client in rangings[constraint]?.clients ?? [] {
                    tell(client, .ranged(constraint, beacons, at: onTheWall(report.time)))
                }
            }
        }
        publish()
    }

    private func regionChanged(_ change: RegionChange, to state: RegionState) {
        guard let identifier = regionsByID[change.region],
            let place = regions.firstIndex(where: { $0.registered.identifier == identifier })
        else {
            watches.change(change, to: state)
            return tellWatchers()
        }
        regions[place].registered.state = state
        missed.forget(identifier)
        changed()
        let region = regions[place].registered
        // The state is published before anybody is told, so that whoever is told and asks hears the same.
        publish()
        for event in ClientEvent.changes(of: region, from: change.before) { tellAll(event) }
    }

    private func tellWatchers() {
        for (client, report) in watches.takeReports() {
            var report = report
            report.time = report.time.map { onTheWall($0) }
            tell(client, .watched(report))
        }
    }

    private func tell(_ client: ClientID, _ event: ClientEvent) { clients[client]?.deliver(event) }

    private func tellAll(_ event: ClientEvent) {
        for id in clientOrder { clients[id]?.deliver(event) }
    }

    private func publish() {
        let snapshot = CenterSnapshot(regions: regions.map(\.registered), authorization: status, radio: radioState)
        published.withLock { $0 = snapshot }
    }

    /// The regions are to be written, once, after all that is waiting has been done.
    private func changed() {
        guard !isSaveDue else { return }
        isSaveDue = true
        perform { $0.save() }
    }

    private func save() {
        isSaveDue = false
        guard canSave else { return }
        do throws(ServiceError) {
            try configuration.store.save(regions.map(\.registered))
        } catch {
            logger.error("the regions of \(configuration.application) are not kept: \(error)")
        }
        launchWish.update(status: status, hasRegions: !regions.isEmpty)
    }
}
