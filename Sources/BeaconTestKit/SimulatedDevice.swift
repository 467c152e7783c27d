internal import BeaconApplications
internal import BeaconModel
internal import BeaconMonitoring
internal import BeaconRadio
internal import BeaconSupport
public import CoreLocation
internal import Dispatch
internal import Synchronization

/// A device in the simulated air, as an app would run on.
///
/// Managers that are made while the device is installed, or inside `run(_:)`, belong to it.
public final class SimulatedDevice: Sendable {
    /// A state of the device's Bluetooth. More may come, so a `switch` over states needs a default.
    public struct BluetoothState: Hashable, Sendable {
        let state: RadioState

        /// It is unknown so far, as in the first moments of an app.
        public static let unknown = BluetoothState(state: .unknown)
        /// It is being reset, and may be back at any moment.
        public static let resetting = BluetoothState(state: .resetting)
        /// The device has none.
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
        let launch = Launch(center: BeaconCenter(configuration), radio: AirRadio())
        launch.center.use(launch.radio)
        return launch
    }

    /// The tasks that callbacks of any launch woke, and that were begun in ``run(_:)``.
    var tasks: WorkCount { memory.tasks }
    var center: BeaconCenter { launch.withLock { $0.center } }
    private var radio: AirRadio { launch.withLock { $0.radio } }

    /// The device's position.
    public var position: Position {
        get { place.withLock { $0 } }
        set { place.withLock { $0 = newValue } }
    }

    /// Installs the device: managers that are made from now on in this process belong to it.
    public func install() { BeaconCenter.install(center) }

    /// Calls `body`, in which new managers belong to this device, so that tests that run in parallel are isolated.
    public func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        try BeaconCenter.withCurrent(center, body)
    }

    /// Calls `body`, in which new managers belong to this device, so that tests that run in parallel are isolated.
    ///
    /// - Parameters:
    ///   - isolation: the actor that `body` runs on, which is the caller's.
    ///   - body: what to do.
    public func run<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await BeaconCenter.withCurrent(center, isolation: isolation, body)
    }

    /// Ends the app and launches it again: it has the regions, the conditions and the authorization of before, and
    /// nothing else.
    ///
    /// Managers and monitors that were made before receive nothing any more and should be released. Those that are made
    /// from now on belong to the new launch; where the device is installed, it is installed again.
    public func relaunch() {
        let old = center
        // What the app asked for is done, and what is to be kept is written, before it ends.
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
    /// device that asks its user. At first it is false, and they are granted at once.
    public var asksUser: Bool {
        get { isAsked.withLock { $0 } }
        set {
            isAsked.withLock { $0 = newValue }
            center.perform { $0.answer = newValue ? .ask : .grant }
        }
    }

    /// A Boolean value indicating whether the app has asked for an authorization and waits for its user.
    public var isAsking: Bool { center.snapshot.isAsking }

    /// Sets the app's authorization, as a user does who is asked, or later in the settings.
    public func authorize(_ status: CLAuthorizationStatus) {
        let status = AuthorizationStatus(status)
        center.perform { $0.setStatus(status) }
    }

    /// Switches Bluetooth on or off. It is on at first.
    public func setBluetooth(isOn: Bool) { setBluetooth(isOn ? .poweredOn : .poweredOff) }

    /// Sets the state of Bluetooth. It is powered on at first; in any other state nothing is heard and nothing is sent.
    public func setBluetooth(_ state: BluetoothState) {
        center.perform { $0.receive(.state(state.state)) }
    }

    /// A Boolean value indicating whether scans of Core Bluetooth hear no data of iBeacons, as on iOS, which it is at
    /// first; false is as on macOS.
    public var hidesBeaconsFromScans: Bool {
        get { center.hidesBeaconsFromScans.load(ordering: .relaxed) }
        set { center.hidesBeaconsFromScans.store(newValue, ordering: .relaxed) }
    }

    /// Lights the display up: regions that request it deliver their state.
    public func lightUpDisplay() { center.perform { $0.displayDidLightUp() } }

    /// The number of iBeacon frames that the device sends at the moment.
    public var advertisedFrameCount: Int { adverts.count { $0.frame != nil } }

    var adverts: [OutgoingAdvert] { center.snapshot.radio == .poweredOn ? radio.adverts : [] }
    var scanMode: ScanMode { radio.mode }

    /// Delivers the radio's answers, if any wait.
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
