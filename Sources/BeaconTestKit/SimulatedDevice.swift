internal import BeaconModel
internal import BeaconRadio
internal import BeaconService
public import CoreLocation

/// A device in the simulated air: what an app would run on.
///
/// Managers that are made while the device is installed, or inside ``run(_:)-swift.method``, belong to it.
public final class SimulatedDevice: Sendable {
    /// What the device is called.
    public let name: String

    let number: Int
    let center: BeaconCenter
    private let radio = AirRadio()
    private let place: Locked<Position>

    init(
        name: String, number: Int, position: Position, authorization: CLAuthorizationStatus, store: any RegionStore
    ) {
        self.name = name
        self.number = number
        place = Locked(position)
        var configuration = CenterConfiguration(application: ApplicationIdentity(name), store: store)
        configuration.maximumRegions = BeaconCenter.appleRegionLimit
        configuration.initialStatus = AuthorizationStatus(authorization)
        center = BeaconCenter(configuration)
        center.use(radio)
    }

    /// Where the device is.
    public var position: Position {
        get { place.withLock { $0 } }
        set { place.withLock { $0 = newValue } }
    }

    /// Makes managers belong to this device that are made from now on, by anybody in this process.
    public func install() { BeaconCenter.install(center) }

    /// Makes managers belong to this device that are made in `body`, so that tests beside one another do not meet.
    public func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        try BeaconCenter.withCurrent(center, body)
    }

    /// Makes managers belong to this device that are made in `body`, so that tests beside one another do not meet.
    public func run<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        try await BeaconCenter.withCurrent(center, body)
    }

    /// Changes what the app may know, as a user does in the settings.
    public func authorize(_ status: CLAuthorizationStatus) {
        let status = AuthorizationStatus(status)
        center.perform { $0.setStatus(status) }
    }

    /// Switches Bluetooth on or off. It is on at first.
    public func setBluetooth(isOn: Bool) {
        let state: RadioState = isOn ? .poweredOn : .poweredOff
        center.perform { $0.receive(.state(state)) }
    }

    /// Lights the display up: regions that want it tell their state.
    public func lightUpDisplay() { center.perform { $0.displayDidLightUp() } }

    /// How many iBeacon frames the device sends at the moment.
    public var advertisedFrameCount: Int { frames.count }

    var frames: [IBeaconFrame] { radio.frames }
    var isScanning: Bool { radio.isScanning }

    /// Hands the radio's answer on, if one waits.
    func settleRadio() -> Bool {
        guard radio.takeAnswer() else { return false }
        receive(.advertising(.success(())))
        return true
    }

    func receive(_ event: RadioEvent) {
        center.queue.sync { center.assumeIsolated { $0.receive(event) } }
    }
}
