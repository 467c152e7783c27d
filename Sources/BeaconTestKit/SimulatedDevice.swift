internal import BeaconApplications
internal import BeaconModel
internal import BeaconMonitoring
internal import BeaconRadio
internal import BeaconSupport
public import CoreLocation
internal import Dispatch
internal import Synchronization

/// A device in the simulated air, on which an app runs.
///
/// Managers that are created while the device is installed, or inside `run(_:)`, belong to it. The app stays in the
/// foreground until a test moves it, for example with ``enterBackground()``.
public final class SimulatedDevice: Sendable {
    /// A state of the device's Bluetooth. Later versions may add more, so a `switch` over states needs a default.
    public struct BluetoothState: Hashable, Sendable {
        let state: RadioState

        /// Not known yet, as right after an app's launch.
        public static let unknown = BluetoothState(state: .unknown)
        /// Being reset; it may return at any time.
        public static let resetting = BluetoothState(state: .resetting)
        /// The device has no Bluetooth.
        public static let unsupported = BluetoothState(state: .unsupported)
        /// The app may not use it.
        public static let unauthorized = BluetoothState(state: .unauthorized)
        /// It is switched off.
        public static let poweredOff = BluetoothState(state: .poweredOff)
        /// It works.
        public static let poweredOn = BluetoothState(state: .poweredOn)
    }

    /// The process of one launch of the app. It is made when the previous one ends, since the device monitors the app's
    /// regions in between.
    private struct Process {
        let center: BeaconCenter
        let radio: AirRadio
    }

    /// The parts of a device that outlive a launch.
    private struct Memory: Sendable {
        let identity: ApplicationIdentity
        let owner: CenterConfiguration.Owner
        let regions = MemoryRegionStore()
        let monitors = MemoryMonitorStore()
        let tasks = WorkCount()
    }

    /// The device's name.
    public let name: String

    let number: Int
    private let memory: Memory
    private let process: Locked<Process>
    private let place: Locked<Position>
    private let isAsked = Locked(false)

    /// The life of the app.
    let application: DeviceApplication
    let launcher = AppLauncher()
    /// True once a closure launches the app.
    let hasClosure = Locked(false)
    /// True if the launcher has the object of an app that has ended.
    let mustRelease = Locked(false)
    let expirationHandlers = Locked<[UInt64: @MainActor @Sendable () -> Void]>([:])
    /// The background tasks whose expiration handlers are due.
    let expired = Locked<[UInt64]>([])

    init(
        name: String, number: Int, position: Position, authorization: CLAuthorizationStatus,
        air: (origin: String, number: UInt64), seed: UInt64
    ) {
        self.name = name
        self.number = number
        place = Locked(position)
        application = DeviceApplication(seed: seed &+ UInt64(number))
        memory = Memory(
            identity: ApplicationIdentity(name),
            owner: CenterConfiguration.Owner(device: name, air: air.origin, airNumber: air.number))
        process = Locked(Self.makeProcess(memory, application, AuthorizationStatus(authorization)))
    }

    private static func makeProcess(
        _ memory: Memory, _ application: DeviceApplication, _ authorization: AuthorizationStatus,
        asksUser: Bool = false
    ) -> Process {
        var configuration = CenterConfiguration(application: memory.identity, store: memory.regions)
        configuration.life = application
        configuration.owner = memory.owner
        configuration.monitorStore = memory.monitors
        configuration.tasks = memory.tasks
        configuration.maximumRegions = BeaconCenter.appleRegionLimit
        configuration.initialStatus = authorization
        configuration.answer = asksUser ? .ask : .grant
        BeaconCenter.hasSimulatedDevices.store(true, ordering: .relaxed)
        let process = Process(center: BeaconCenter(configuration), radio: AirRadio())
        process.center.use(process.radio)
        return process
    }

    /// The tasks that callbacks of any launch woke, and the tasks that were started in ``run(_:)``.
    var tasks: WorkCount { memory.tasks }
    var center: BeaconCenter { process.withLock { $0.center } }
    private var radio: AirRadio { process.withLock { $0.radio } }

    /// Calls `body` on the center's queue, with the time in nanoseconds.
    func onCenter<Result: Sendable>(_ body: @Sendable (isolated BeaconCenter, Int64) -> Result) -> Result {
        let center = center
        return center.queue.sync { center.assumeIsolated { body($0, $0.time?.nanoseconds ?? 0) } }
    }

    /// Changes the life of the app, and makes it effective.
    func change(_ body: @Sendable (inout AppLife, Int64) -> Void) {
        onCenter { center, now in
            application.change { body(&$0, now) }
            center.setPresence(application.now.presence)
        }
    }

    /// The device's position.
    public var position: Position {
        get { place.withLock { $0 } }
        set { place.withLock { $0 = newValue } }
    }

    /// Installs the device: managers that this process creates from now on belong to it.
    public func install() { BeaconCenter.install(center) }

    /// Calls `body`. New managers that it creates belong to this device, so that parallel tests are isolated.
    public func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        try BeaconCenter.withCurrent(center, body)
    }

    /// Calls `body`. New managers that it creates belong to this device, so that parallel tests are isolated.
    ///
    /// - Parameters:
    ///   - isolation: the actor that `body` runs on, which is the caller's.
    ///   - body: the work to do.
    public func run<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await BeaconCenter.withCurrent(center, isolation: isolation, body)
    }

    /// Ends the app and launches it again into the foreground. Only its regions, conditions and authorization are kept.
    ///
    /// Managers and monitors of the previous launch receive no more events and should be released. New managers belong
    /// to the new launch. If the device is installed, it is installed again.
    public func relaunch() {
        endApp(.system)
        if hasClosure.withLock({ $0 }) { return enterForeground() }
        // The test itself makes the managers of this launch.
        change { $0.beginLaunch(by: .user, at: $1) }
        onCenter { center, _ in center.keepChangesForLateDelegates() }
    }

    /// Ends the app, and prepares the process of its next launch.
    func endApp(_ absence: Absence) {
        guard appState.isRunning else { return change { life, _ in life.end(absence) } }
        let old = center
        // The app's pending requests are handled and its state is written before it ends.
        old.queue.sync {}
        let isWritten = DispatchSemaphore(value: 0)
        old.performOnDisk { isWritten.signal() }
        isWritten.wait()
        let handover = onCenter { center, _ in
            application.change { $0.end(absence) }
            endUse(center)
            return center.endApplication()
        }
        expirationHandlers.withLock { $0 = [:] }
        expired.withLock { $0 = [] }
        let new = Self.makeProcess(memory, application, old.snapshot.authorization, asksUser: asksUser)
        new.center.hidesBeaconsFromScans.store(hidesBeaconsFromScans, ordering: .relaxed)
        new.center.strictness.store(isStrict, ordering: .relaxed)
        process.withLock { $0 = new }
        BeaconCenter.install(new.center, inPlaceOf: old)
        onCenter { center, _ in
            center.takeOver(handover)
            center.setPresence(.notRunning)
            center.updateLimits()
        }
        new.center.monitorStoredConditions(of: memory.monitors.names)
        mustRelease.withLock { $0 = true }
        // So that the air notices the other center.
        tasks.noteChange()
    }

    /// A Boolean value indicating whether the app's requests for an authorization wait for
    /// ``authorize(_:)-(CLAuthorizationStatus)``, as on a device that asks its user. False by default: requests are
    /// granted at once.
    public var asksUser: Bool {
        get { isAsked.withLock { $0 } }
        set {
            isAsked.withLock { $0 = newValue }
            center.perform { $0.answer = newValue ? .ask : .grant }
        }
    }

    /// A Boolean value indicating whether the user is being asked: a request of the app for an authorization is
    /// pending, or an event waits for the answer about a provisional permission.
    public var isAsking: Bool { center.snapshot.isAsking || application.now.questionEnd != nil }

    /// Sets the app's authorization, as a user does in a prompt or later in the settings.
    public func authorize(_ status: CLAuthorizationStatus) {
        let status = AuthorizationStatus(status)
        onCenter { center, _ in
            let wasProvisional = application.change { life in
                defer { life.decide(nil) }
                return life.permission == .provisionalAlways
            }
            if wasProvisional, status != .always { center.forgetChanges() }
            center.setStatus(status)
            center.releaseChanges()
        }
    }

    /// A Boolean value indicating whether an error for which iOS ends an app ends the program, too. False by default:
    /// such an error is logged.
    ///
    /// These are the name of a `CLMonitor` that is invalid or in use, and background location updates without the
    /// background mode.
    public var isStrict: Bool {
        get { center.isStrict }
        set { center.strictness.store(newValue, ordering: .relaxed) }
    }

    /// Switches Bluetooth on or off. It is initially on.
    public func setBluetooth(isOn: Bool) { setBluetooth(isOn ? .poweredOn : .poweredOff) }

    /// Sets the state of Bluetooth. It is initially powered on; in any other state, the device neither hears nor sends.
    public func setBluetooth(_ state: BluetoothState) {
        center.perform { $0.receive(.state(state.state)) }
    }

    /// A Boolean value indicating whether Core Bluetooth scans hide the data of iBeacons: true as on iOS, which is the
    /// default, or false as on macOS.
    public var hidesBeaconsFromScans: Bool {
        get { center.hidesBeaconsFromScans.load(ordering: .relaxed) }
        set { center.hidesBeaconsFromScans.store(newValue, ordering: .relaxed) }
    }

    /// Lights up the display, like ``turnScreenOn()``.
    public func lightUpDisplay() { turnScreenOn() }

    /// Ends the process with its air, so that a manager that outlives it can be recognized.
    func endWithAir() { center.gate.end() }

    /// The number of iBeacon frames that the device sends at present.
    public var advertisedFrameCount: Int { adverts.count { $0.frame != nil } }

    var adverts: [OutgoingAdvert] { center.snapshot.radio == .poweredOn ? radio.adverts : [] }
    var scanMode: ScanMode { radio.mode }

    /// Delivers pending outcomes of the radio, and returns true if there were any.
    func settleRadio() -> Bool {
        guard center.snapshot.radio == .poweredOn else { return false }
        let adverts = radio.takeAnswers()
        for advert in adverts { receive(.advertising(advert, .success(()))) }
        return !adverts.isEmpty
    }

    func receive(_ event: SourceEvent) {
        let center = center
        center.queue.sync { center.assumeIsolated { $0.receive(event) } }
    }
}
