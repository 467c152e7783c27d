package import BeaconApplications
import BeaconEngine
package import BeaconModel
package import BeaconRadio
import BeaconSupport
package import Dispatch
import Logging
package import Synchronization

/// A snapshot of a center's state after its last change, which can be read without waiting.
package struct CenterSnapshot: Sendable {
    /// The regions that the application monitors, in the order in which they were added, with the states that clients
    /// know.
    package var regions: [RegisteredRegion] = []

    /// The authorization of the application.
    package var authorization = AuthorizationStatus.notDetermined

    /// A Boolean value indicating whether a request for an authorization waits for the user.
    package var isAsking = false

    /// The state of the radio.
    package var radio = RadioState.unknown

    /// The obstacles that the authorization does not show.
    package var limits: UsageLimits = []
}

/// The radio and the core that the clients of one application share.
///
/// The center keeps the application's regions across launches, asks the policy for its authorization, and sets the scan
/// mode that the requests need.
///
/// The center reads no clock: the radio provides the time. So the same events give the same callbacks in the same
/// order, even in a test that runs a day in a second. For the core, the radio is one receiver, which is deaf if the
/// application is not authorized.
package actor BeaconCenter {
    struct Client {
        var deliver: @Sendable (ClientEvent) -> Void
        /// Returns true if the client can receive a region's change now; nil if it is no manager of regions.
        var isReady: (@Sendable () -> Bool)?
        /// The constraints that the client ranges, each with the failure that was delivered last.
        var constraints: [BeaconConstraint: RangingFailure?] = [:]
        /// True while the client scans for devices.
        var isScanning = false
        var advert: OutgoingAdvert?
        /// True if the outcome of the advert was delivered.
        var isAnswered = false
    }

    struct Region {
        var registered: RegisteredRegion
        var condition: ConditionID
        /// The failure that was delivered last.
        var failure: MonitoringFailure?
    }

    struct ClientCondition {
        var constraint: BeaconConstraint
        var client: ClientID
        /// The initial state, used once the condition is within the limit.
        var assumed: RegionState
        /// The core's identifier of the condition; nil while it is beyond the limit.
        var condition: ConditionID?
        /// True if the client was notified that the condition is beyond the limit.
        var isBeyondLimit = false
    }

    /// The owner of a condition of the core.
    enum Owner {
        case region(String)
        case client(ClientConditionID)
    }

    struct Ranging {
        /// The core's identifier of the request; nil while the application may not range.
        var request: RangingRequestID?
        var clients: [ClientID] = []
    }

    /// A period in which the radio does not hear, whatever states it passes through. A failure that clients have
    /// received stays in effect until the radio works, even if the radio may return at any time.
    struct Outage {
        /// The time at which it began, in nanoseconds; negative before the first time is known.
        var since: Int64 = -1
        /// True once clients must be notified of the outage.
        var isLasting = false
        /// True if the radio can never hear.
        var isHopeless = false
    }

    /// For the core, a center is one receiver, however many adapters its radio has.
    static let receiver = ReceiverID(0)

    private let executor = SerialQueueExecutor(label: "swift-beacon.center")
    let configuration: CenterConfiguration
    let logger = Logger(label: "swift-beacon.center")
    private let published: Locked<CenterSnapshot>
    private let nextClient = Atomic<UInt64>(0)
    private let nextCondition = Atomic<UInt64>(0)
    /// The newest time that the radio gave, in nanoseconds; negative before the first.
    let newestTime = Atomic<Int64>(-1)
    /// The nanoseconds by which the wall clock is ahead of the radio's times.
    let wallOffset = Atomic<Int64>(0)
    /// True if Core Bluetooth scans hide the data of iBeacons.
    package nonisolated let hidesBeaconsFromScans: Atomic<Bool>
    /// True if an error for which iOS ends an application ends this one, too.
    package nonisolated let strictness: Atomic<Bool>
    let hasReportedForeignUse = Atomic(false)
    /// The client callbacks that are under way.
    package nonisolated let callbacks = WorkCount()
    /// The gate that all callbacks pass.
    package nonisolated let gate = CallbackGate()

    var core: MonitoringCore
    var radio: (any Radio)?
    /// The number of the current radio, which increases with each new radio.
    var radioGeneration = 0
    var listening: Task<Void, Never>?
    var scanMode = ScanMode.off
    var advertised: [OutgoingAdvert] = []

    var clients: [ClientID: Client] = [:]
    /// The clients in the order in which they were added, which is the order of their callbacks.
    var clientOrder: [ClientID] = []

    var regions: [Region] = []
    var owners: [ConditionID: Owner] = [:]
    var clientConditions: [ClientConditionID: ClientCondition] = [:]
    private nonisolated let companions = Locked<[String: any AnyObject & Sendable]>([:])
    var rangings: [BeaconConstraint: Ranging] = [:]
    var rangedConstraints: [RangingRequestID: BeaconConstraint] = [:]

    var permission: AuthorizationPolicy.Permission
    /// The answer to requests if there is no policy.
    package var answer: RequestAnswer
    /// The request that waits for the user's answer, or nil.
    var asked: AuthorizationRequest?
    /// The question to the user; nil until the disk's queue has created it.
    var question: PendingAuthorization?
    /// The number of permissions that this center has stored. A permission that was read before the newest write is
    /// outdated.
    var storedPermissions = 0
    /// The permission on the disk as it was last read or written on the queue for disk access, or nil.
    let permissionOnDisk: Locked<AuthorizationPolicy.Permission?>
    let authorizationWatch = Locked<AuthorizationWatch?>(nil)
    var radioState = RadioState.unknown
    /// The last failure of the radio that was reported; nil once the radio has opened.
    var reportedFailure: String?
    /// The status of each receiver behind a radio with several, and the receivers that have heard a beacon.
    var receiverStatuses: [ReceiverStatus] = []
    var heardReceivers: Set<ReceiverID> = []
    /// The outage of the radio; nil while it works.
    var outage: Outage? = Outage()

    /// The life of the application, if a test simulates it.
    var life: (any ApplicationLife)?
    var presence = AppPresence.foreground
    var limits: UsageLimits = []
    /// The changes of regions and conditions that the application may not receive at present, the oldest first.
    var withheld: [WithheldChange] = []
    var withheldReports: [ConditionReport] = []

    var missed: MissedChanges
    /// True if missed changes were delivered and are still on the disk. The next write tries again to remove them.
    private var areMissedChangesStored = false
    private let launchRegistration: LaunchRegistration
    let writer: StateWriter
    private var launching: (status: AuthorizationStatus, hasTriggers: Bool)?

    /// The observer of the application, if a test observes it.
    nonisolated let observer = CallbackObserver()

    /// The queue on which the center works.
    package nonisolated var queue: DispatchQueue { executor.queue }

    /// The executor of the center's work: its queue.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Creates a center without a radio. It continues to monitor the regions of an earlier launch.
    package init(_ configuration: CenterConfiguration) {
        self.configuration = configuration
        hidesBeaconsFromScans = Atomic(configuration.hidesBeaconsFromScans)
        strictness = Atomic(configuration.policy?.isStrict(for: configuration.application) == true)
        core = MonitoringCore(configuration.engine)
        answer = configuration.answer
        life = configuration.life
        launchRegistration = LaunchRegistration(configuration.launchStore, logger)
        var kept: [RegisteredRegion] = []
        var canSave = true
        // Before the regions are read, so that beacond does not change the pending events in between.
        let changes = launchRegistration.begin()
        do throws(StateError) {
            kept = try configuration.store.load()
        } catch {
            logger.error("cannot read the regions of \(configuration.application): \(error); they will not be saved")
            canSave = false
        }
        writer = StateWriter(canSave ? configuration.store : nil, logger)
        do throws(StateError) {
            let stored = try configuration.policy?.permission(of: configuration.application)
            permission = stored ?? AuthorizationPolicy.Permission(status: configuration.initialStatus)
            permissionOnDisk = Locked(stored)
        } catch {
            // The stored authorization is unknown, so it counts as denied.
            logger.error("cannot read the authorization of \(configuration.application): \(error); denying it")
            permission = AuthorizationPolicy.Permission(status: .denied)
            permissionOnDisk = Locked(nil)
        }
        missed = MissedChanges(changes, &kept)
        published = Locked(CenterSnapshot(regions: kept, authorization: permission.status, radio: .unknown))
        core.setHearing(.interrupted, of: Self.receiver)
        for region in kept {
            let condition = core.startMonitoring(MonitoredRegion(region.constraint), assuming: region.state)
            regions.append(Region(registered: region, condition: condition))
            owners[condition] = .region(region.identifier)
        }
        markQueue()
        watchAuthorization()
    }

    deinit { listening?.cancel() }

    // MARK: - Without waiting

    /// The state of the center after its last change.
    package nonisolated var snapshot: CenterSnapshot { published.withLock { $0 } }

    /// A Boolean value indicating whether there is a radio, whatever its state. It counts as there until something
    /// shows that it is not.
    package nonisolated var hasRadio: Bool {
        switch snapshot.radio {
        case .unsupported: false
        case .unknown: !configuration.lacksRadio
        default: true
        }
    }

    /// The newest time that the radio gave; nil before the first.
    package nonisolated var time: Timestamp? {
        let newest = newestTime.load(ordering: .relaxed)
        return newest < 0 ? nil : Timestamp(nanoseconds: newest)
    }

    /// The newest time that the radio gave, by the wall clock; nil before the first.
    package nonisolated var wallTime: Timestamp? { time.map { wall($0) } }

    nonisolated func wall(_ time: Timestamp) -> Timestamp {
        time.advanced(by: wallOffset.load(ordering: .relaxed))
    }

    /// A Boolean value indicating whether an error for which iOS ends an application ends this one, too.
    package nonisolated var isStrict: Bool { strictness.load(ordering: .relaxed) }

    /// The device and the air of a test that the center belongs to; nil in an app.
    package nonisolated var owner: CenterConfiguration.Owner? { configuration.owner }

    /// The store of the application's monitors.
    package nonisolated var monitorStore: any MonitorStore { configuration.monitorStore }

    /// Performs `work` on the center, after all work that was submitted before.
    package nonisolated func perform(_ work: @escaping @Sendable (isolated BeaconCenter) -> Void) {
        queue.async { self.assumeIsolated { work($0) } }
    }

    /// Performs `work` on the queue for disk access, after all writes that were submitted before.
    package nonisolated func performOnDisk(_ work: @escaping @Sendable () -> Void) {
        writer.perform { _ in work() }
    }

    func publish() {
        let snapshot = CenterSnapshot(
            regions: regions.map(\.registered), authorization: status, isAsking: asked != nil, radio: radioState,
            limits: limits)
        published.withLock { $0 = snapshot }
    }

    // MARK: - Clients

    /// Returns an identifier for a client that will be added.
    package nonisolated func makeClientID() -> ClientID {
        ClientID(number: nextClient.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    /// Returns an identifier for a condition that a client will monitor.
    package nonisolated func makeConditionID() -> ClientConditionID {
        ClientConditionID(number: nextCondition.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    /// Adds a client. It receives the authorization at once, then the radio's state if that is known, then its events.
    ///
    /// - Parameters:
    ///   - id: the client's identifier.
    ///   - isReady: returns true if the client can receive a region's change now; nil if it is no manager of regions.
    ///   - deliver: called on the center's queue, one event after another; it should return soon.
    package nonisolated func addClient(
        _ id: ClientID, isReady: (@Sendable () -> Bool)? = nil, _ deliver: @escaping @Sendable (ClientEvent) -> Void
    ) {
        perform { $0.add(id, isReady, deliver) }
    }

    /// Adds a client whose callbacks are made in its own context.
    ///
    /// - Parameters:
    ///   - id: the client's identifier.
    ///   - context: the context of its callbacks.
    ///   - deliver: called in the context, one event after another. While it runs, this center is the current one.
    package nonisolated func addClient(
        _ id: ClientID, in context: CallbackContext, _ deliver: @escaping @Sendable (ClientEvent) -> Void
    ) {
        addClient(id) { [weak self] event in self?.makeCallback(in: context) { deliver(event) } }
    }

    /// Makes a call in a context, after pending calls. While it runs, this center is the current one.
    package nonisolated func makeCallback(in context: CallbackContext, _ call: @escaping @Sendable () -> Void) {
        gate.pass { [weak self] in
            guard let self else { return }
            let token = callbacks.begin()
            context.perform {
                if !self.gate.isOver { Self.withCurrent(self) { call() } }
                // Keeps the token alive until the callback has returned.
                withExtendedLifetime(token) {}
            }
        }
    }

    /// Resumes a task of the application that waits for an event. While `resume` runs, this center is the current one.
    package nonisolated func wake(_ resume: @escaping @Sendable () -> Void) {
        gate.pass { [weak self] in
            guard let self else { return }
            let token = callbacks.begin()
            Self.withCurrent(self) { resume() }
            withExtendedLifetime(token) {}
        }
    }

    /// A Boolean value indicating whether no submitted callback is under way.
    package nonisolated var hasNoCallbacksUnderWay: Bool { callbacks.isZero }

    private func add(
        _ id: ClientID, _ isReady: (@Sendable () -> Bool)?, _ deliver: @escaping @Sendable (ClientEvent) -> Void
    ) {
        clients[id] = Client(deliver: deliver, isReady: isReady)
        clientOrder.append(id)
        callbacks.noteChange()
        if !limits.isEmpty { deliver(.limits(limits)) }
        deliver(.authorization(status, isAsking: asked != nil))
        if radioState != .unknown { deliver(.radio(radioState)) }
        updateLaunching()
    }

    /// Delivers to a client the changes of the regions while the application did not run, if there are any, and then
    /// ``ClientEvent/missedChangesEnded``. When its callbacks have been made, the client calls
    /// ``confirmMissedChanges()``. Until then the changes stay on the disk, so that a crash loses none.
    package func deliverMissedChanges(to client: ClientID) {
        guard status.isGranted else { return }
        let events = missed.events
        guard !events.isEmpty else {
            // Newer states replaced all pending events. The events must not undo those states in the next launch.
            if missed.wereWaiting { confirmMissedChanges() }
            return
        }
        for event in events { deliver(event, to: client) }
        // The last event of a region is its present state.
        for region in regions where region.registered.state == .unknown && missed.concerns(region.registered.identifier)
        {
            deliver(.determined(region.registered), to: client)
        }
        deliver(.missedChangesEnded, to: client)
    }

    /// Confirms that a client's callbacks for missed changes have been made.
    package func confirmMissedChanges() {
        guard missed.markReceived() else { return }
        // Saves the regions first: if a change were cleared before its region is saved, it would be lost.
        for region in regions { save(region.registered.identifier) }
        clearMissedChanges()
    }

    /// Removes the missed changes from the disk once the resulting region states are saved.
    private func clearMissedChanges() {
        areMissedChangesStored = true
        writer.perform { [weak self, launchRegistration] isSaved in
            guard isSaved, launchRegistration.clear() else { return }
            self?.perform { $0.areMissedChangesStored = false }
        }
    }

    /// Removes a client, together with its ranging, conditions and advert. The regions belong to the application and
    /// stay.
    package func removeClient(_ id: ClientID) {
        guard let client = clients.removeValue(forKey: id) else { return }
        life?.removeClient(id)
        clientOrder.removeAll { $0 == id }
        for constraint in client.constraints.keys { dropRanging(constraint, of: id) }
        for (condition, own) in clientConditions where own.client == id { removeCondition(condition) }
        updateAdvertising()
        update()
    }

    /// Returns an object that clients share and that lives as long as the center. The first call creates it.
    ///
    /// - Parameters:
    ///   - name: its name. Each kind of object should use its own prefix.
    ///   - make: creates the object, under a lock. The object must not retain the center.
    package nonisolated func companion<Companion: AnyObject & Sendable>(
        _ name: String, _ make: () -> Companion
    ) -> Companion {
        companions.withLock { companions in
            if let companion = companions[name] as? Companion { return companion }
            let new = make()
            companions[name] = new
            return new
        }
    }

    // MARK: - Delivering

    func deliver(_ event: ClientEvent, to client: ClientID) {
        callbacks.noteChange()
        clients[client]?.deliver(event)
    }

    func deliverToAll(_ event: ClientEvent) {
        for id in clientOrder { deliver(event, to: id) }
    }

    // MARK: - State

    /// Sets the radio to the state that the requests and permissions require, and delivers the resulting events.
    func update() {
        updateHearing()
        updateRangingFailures()
        updateMonitoringFailures()
        deliverEvents()
        let isDiscovering = clients.values.contains { $0.isScanning }
        let mode = isDiscovering ? .discovery : status.isGranted ? core.scanMode : .off
        if mode != scanMode {
            scanMode = mode
            radio?.scan(mode)
        }
        updateLaunching()
        publish()
    }

    /// Passes the hearing of the radio to the core. For a center, several receivers are one. It hears while all
    /// receivers that have heard a beacon do, since any of them may have kept a region.
    func updateHearing() {
        guard status.isGranted else { return core.setHearing(.lost, of: Self.receiver) }
        guard radioState == .poweredOn else { return core.setHearing(radioState.hearing, of: Self.receiver) }
        let common = SourceReceivers.common(
            receiverStatuses.enumerated()
                .filter { heardReceivers.contains(ReceiverID(UInt16(clamping: $0.offset))) }.map(\.element))
        core.setHearing(common.hearing, of: Self.receiver)
        if common.isDoubtful { core.confirmHearing(of: Self.receiver, until: common.heardUntil) }
    }

    /// Delivers the core's events.
    func deliverEvents() {
        guard core.hasEvents else { return }
        for event in core.drainEvents() {
            switch event {
            case .state(let change): deliver(change)
            case .ranged(let report): deliver(report)
            // Apps do not request places or the detection of clones.
            case .placed, .located, .suspected: break
            case .notice(let notice):
                logger.warning("\(notice)", metadata: ["kind": "\(notice.kind)"])
            }
        }
        publish()
    }

    private func updateLaunching() {
        // An application that may not be started is unregistered, too.
        let allowed = configuration.mayBeStarted || status != .always ? status : .whenInUse
        let wanted = (allowed, !regions.isEmpty || !clientConditions.isEmpty)
        if let launching, launching == wanted, !launchRegistration.hasFailed { return }
        launching = wanted
        writer.perform { [launchRegistration] _ in
            launchRegistration.update(status: wanted.0, hasTriggers: wanted.1)
        }
    }

    /// Saves a region's present state, or removes a region that is no longer monitored.
    func save(_ identifier: String) {
        guard let region = regions.first(where: { $0.registered.identifier == identifier }) else {
            return writer.update(identifier, to: nil)
        }
        // Saves the last known state: an outage is not stored.
        var registered = region.registered
        registered.state = core.knownState(of: region.condition)
        writer.update(identifier, to: registered)
        if areMissedChangesStored { clearMissedChanges() }
    }
}
