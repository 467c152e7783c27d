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
/// Managers that are created while the device is installed, or inside `run(_:)`, belong to it.
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

    /// One launch of the app on the device.
    private struct Launch {
        let center: BeaconCenter
        let radio: AirRadio
    }

    /// The parts of a device that outlive a launch.
    private struct Memory: Sendable {
        let application: ApplicationIdentity
        let regions = MemoryRegionStore()
        let monitors = MemoryMonitorStore()
        let tasks = WorkCount()
    }

    /// The device's name.
    public let name: String

    let number: Int
    private let memory: Memory
    private let launch: Locked<Launch>
    private let place: Locked<Position>
    private let isAsked = Locked(false)

    init(name: String, number: Int, position: Position, authorization: CLAuthorizationStatus) {
        self.name = name
        self.number = number
        place = Locked(position)
        memory = Memory(application: ApplicationIdentity(name))
        launch = Locked(Self.launch(memory, AuthorizationStatus(authorization)))
    }

    private static func launch(
        _ memory: Memory, _ authorization: AuthorizationStatus, asksUser: Bool = false
    ) -> Launch {
        var configuration = CenterConfiguration(application: memory.application, store: memory.regions)
        configuration.monitorStore = memory.monitors
        configuration.tasks = memory.tasks
        configuration.maximumRegions = BeaconCenter.appleRegionLimit
        configuration.initialStatus = authorization
        configuration.answer = asksUser ? .ask : .grant
        BeaconCenter.hasSimulatedDevices.store(true, ordering: .relaxed)
        let launch = Launch(center: BeaconCenter(configuration), radio: AirRadio())
        launch.center.use(launch.radio)
        return launch
    }

    /// The tasks that callbacks of any launch woke, and the tasks that were started in ``run(_:)``.
    var tasks: WorkCount { memory.tasks }
    var center: BeaconCenter { launch.withLock { $0.center } }
    private var radio: AirRadio { launch.withLock { $0.radio } }

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

    /// Ends the app and launches it again. Only its regions, conditions and authorization are kept.
    ///
    /// Managers and monitors of the previous launch receive no more events and should be released. New managers belong
    /// to the new launch. If the device is installed, it is installed again.
    public func relaunch() {
        let old = center
        // The app's pending requests are handled and its state is written before it ends.
        old.queue.sync {}
        let isWritten = DispatchSemaphore(value: 0)
        old.performOnDisk { isWritten.signal() }
        isWritten.wait()
        let (snapshot, time) = (old.snapshot, old.time)
        let new = Self.launch(memory, snapshot.authorization, asksUser: asksUser)
        new.center.hidesBeaconsFromScans.store(hidesBeaconsFromScans, ordering: .relaxed)
        launch.withLock { $0 = new }
        BeaconCenter.install(new.center, inPlaceOf: old)
        if let time { receive(.heard(SourceBatch(upTo: time))) }
        receive(.state(snapshot.radio))
    }

    /// A Boolean value indicating whether the app's requests for an authorization wait for ``authorize(_:)``, as on a
    /// device that asks its user. False by default: requests are granted at once.
    public var asksUser: Bool {
        get { isAsked.withLock { $0 } }
        set {
            isAsked.withLock { $0 = newValue }
            center.perform { $0.answer = newValue ? .ask : .grant }
        }
    }

    /// A Boolean value indicating whether a request of the app for an authorization is pending.
    public var isAsking: Bool { center.snapshot.isAsking }

    /// Sets the app's authorization, as a user does in a prompt or later in the settings.
    public func authorize(_ status: CLAuthorizationStatus) {
        let status = AuthorizationStatus(status)
        center.perform { $0.setStatus(status) }
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

    /// Lights up the display: regions that request it report their state.
    public func lightUpDisplay() { center.perform { $0.displayDidLightUp() } }

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
