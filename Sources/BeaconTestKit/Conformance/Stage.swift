internal import BeaconApplications
internal import BeaconModel
internal import BeaconMonitoring
internal import BeaconSupport
import CoreLocation

/// The air and the device of one situation, and the transcript of what happens on them.
@MainActor
final class Stage {
    /// The transcript, which callbacks and notes of any thread extend.
    final class Recording: Sendable {
        private let transcript = Locked(Transcript())
        private let air: SimulatedAir
        private let start: Double

        init(_ air: SimulatedAir) {
            self.air = air
            start = air.now.timeIntervalSince1970
        }

        var now: Double { air.now.timeIntervalSince1970 - start }
        var current: Transcript { transcript.withLock { $0 } }

        func add(_ content: Transcript.Content) {
            let now = now
            transcript.withLock { $0.add(content, at: now) }
        }

        func change(_ body: (inout Transcript, Double) -> Void) {
            let now = now
            transcript.withLock { body(&$0, now) }
        }
    }

    /// A beacon of the app in the air.
    private struct Beacon {
        var placed: PlacedBeacon
        var distance: Double
    }

    /// The longest time in seconds after which the app's requests are read.
    private static let slice = 5.0

    let air: SimulatedAir
    let recording: Recording
    private let subject: Conformance.Subject
    private var beacons: [Int: Beacon] = [:]

    init(_ subject: Conformance.Subject) {
        self.subject = subject
        air = SimulatedAir(authorization: .notDetermined, seed: 3, controlsTime: true)
        recording = Recording(air)
        device.hasLocationBackgroundMode = subject.options.hasLocationBackgroundMode ?? true
    }

    var device: SimulatedDevice { air.device }

    /// The app's beacons.
    var identities: Conformance.Identities { subject.identities }

    /// Names the present time for the judgement.
    func mark(_ name: String) { recording.change { $0.mark(name, at: $1) } }

    private func log(_ text: String) { recording.add(.world(text)) }

    // MARK: - The app

    /// Lets the user launch the app, and grants what it asks for. An app that asks for nothing may do everything.
    func launch() async {
        start()
        await wait(1)
        guard device.center.snapshot.authorization == .notDetermined, !device.isAsking else { return }
        log("The app asks for no permission; it is given always.")
        device.authorize(.authorizedAlways)
        await wait(1)
    }

    /// Lets the user launch the app, without an answer to its requests for permission.
    func start() {
        log("The user launches the app.")
        // The device keeps the closure, so the closure must not keep the device.
        device.launch { [subject, recording, unowned device] in Self.make(subject, recording, device) }
        activate(isActive: true)
    }

    private static func make(
        _ subject: Conformance.Subject, _ recording: Recording, _ device: SimulatedDevice
    ) -> Any {
        let center = BeaconCenter.current
        recording.add(.launched(byEvent: device.isLaunchedByEvent))
        center.observe { [weak center] observation in
            switch observation {
            case .callback(let event):
                guard let sight = Transcript.Sight(event) else { return }
                recording.add(.saw(sight))
                // The app's requests before it handles the failure.
                if case .limitExceeded = sight, let center { recording.add(.requested(center.requests)) }
            case .monitorEvent(let state): recording.add(.saw(.condition(state)))
            case .backgroundUpdates: recording.change { transcript, _ in transcript.wantsBackgroundUpdates = true }
            }
        }
        return subject.make(Conformance.Launch(device: device, isByEvent: device.isLaunchedByEvent))
    }

    private func activate(isActive: Bool) {
        guard let app: Any = device.app() else { return }
        device.run { subject.changeScene?(app, isActive) }
    }

    /// Brings the app to the foreground. The user launches it if it does not run.
    func enterForeground() async {
        let wasRunning = device.appState.isRunning
        log(wasRunning ? "The app comes to the foreground." : "The user launches the app.")
        device.enterForeground()
        await air.settle()
        activate(isActive: true)
        await wait(0)
    }

    /// Sends the app to the background, and waits until it is suspended.
    func suspend() async {
        log("The app goes to the background.")
        device.enterBackground()
        activate(isActive: false)
        await wait(30)
    }

    /// Ends the app.
    func end(by ender: SimulatedDevice.Ender) async {
        log(ender == .user ? "The user swipes the app away." : "The system ends the app.")
        device.end(by: ender)
        await wait(1)
    }

    // MARK: - Time

    /// Lets time pass, in seconds.
    func wait(_ seconds: Double) async {
        var rest = seconds
        repeat {
            let step = min(rest, Self.slice)
            await air.advance(by: .seconds(step))
            recording.add(.requested(device.center.requests))
            rest -= step
        } while rest > 0
    }

    // MARK: - Beacons

    /// Places the app's first or second beacon at a distance in meters, or moves it there.
    func place(_ number: Int, at meters: Double) {
        subject.learn(device.center.requests)
        log("Beacon \(number) is at \(Self.text(meters)) m.")
        put(number, number == 1 ? identities.first : identities.second, at: meters)
    }

    /// Places a beacon of another region of the app, as number 3.
    func placeOther(at meters: Double) {
        log("A beacon of another region is at \(Self.text(meters)) m.")
        put(3, identities.other, at: meters)
    }

    private func put(_ number: Int, _ identity: Conformance.Identity?, at meters: Double) {
        guard let identity else { return }
        if beacons[number] == nil {
            let beacon = SimulatedBeacon(
                uuid: identity.uuid, major: identity.major, minor: identity.minor, at: .distance(meters))
            beacons[number] = Beacon(placed: air.place(beacon), distance: meters)
        }
        move(number, to: meters)
    }

    /// Places a second transmitter with the identity of the first beacon.
    func placeTwin(at meters: Double) {
        guard let identity = identities.first else { return }
        log("A second transmitter of beacon 1 is at \(Self.text(meters)) m.")
        air.place(
            SimulatedBeacon(uuid: identity.uuid, major: identity.major, minor: identity.minor, at: .distance(meters)))
    }

    private func move(_ number: Int, to meters: Double) {
        beacons[number]?.placed.move(toDistance: meters)
        beacons[number]?.distance = meters
    }

    /// Moves a beacon in a second's steps, as a visitor walks.
    func walk(_ number: Int, to meters: Double, in seconds: Int) async {
        guard let start = beacons[number]?.distance else { return }
        log("The visitor walks to \(Self.text(meters)) m from beacon \(number).")
        for step in 1...seconds {
            move(number, to: start + (meters - start) * Double(step) / Double(seconds))
            await wait(1)
        }
    }

    /// Takes a beacon out of reach.
    func silence(_ numbers: [Int]) {
        for number in numbers where beacons[number] != nil {
            log("Beacon \(number) is out of reach.")
            beacons.removeValue(forKey: number)?.placed.remove()
        }
    }

    /// Changes the address of the first beacon.
    func changeAddress() {
        log("Beacon 1 changes its address.")
        beacons[1]?.placed.changeAddress()
    }

    private static func text(_ meters: Double) -> String {
        meters == meters.rounded() ? "\(Int(meters))" : "\(meters)"
    }

    // MARK: - The device

    /// Switches Bluetooth.
    func bluetooth(_ state: SimulatedDevice.BluetoothState) {
        log(state == .poweredOn ? "Bluetooth is on." : "Bluetooth is off.")
        device.setBluetooth(state)
    }

    /// Sets the app's permission.
    func authorize(_ status: CLAuthorizationStatus) {
        log("The permission is \(AuthorizationStatus(status).text).")
        device.authorize(status)
    }

    /// Limits the window after an event in the background, in seconds.
    func window(_ seconds: Double) { device.backgroundPolicy.wakeWindow = .fixed(.seconds(seconds)) }

    /// Gives the app always, but only until its first event in the background.
    func provisional() {
        log("The permission is provisionally always.")
        device.authorize(.provisionalAlways)
    }

    /// Sets the accuracy that the user allows.
    func setAccuracy(_ accuracy: CLAccuracyAuthorization) {
        log(accuracy == .fullAccuracy ? "Precise location is on." : "Precise location is off.")
        device.accuracy = accuracy
    }

    /// Darkens the screen, and lights it up again.
    func lookAtScreen() async {
        device.turnScreenOff()
        await wait(20)
        log("The screen lights up.")
        device.turnScreenOn()
        await wait(10)
    }

    /// Restarts the device, and unlocks it after `body`.
    func restart(_ body: () async -> Void) async {
        log("The device restarts.")
        device.restart()
        await body()
        log("The user unlocks the device.")
        device.unlock()
        await air.settle()
    }

    /// Lets an older version of the app register its regions.
    func registerFormerRegions() async {
        let regions = subject.options.formerRegions
        guard !regions.isEmpty else { return }
        log("An older version monitored \(regions.map(\.identifier).joined(separator: ", ")).")
        device.authorize(.authorizedAlways)
        device.launch {
            let manager = CLLocationManager()
            for region in regions { manager.startMonitoring(for: region) }
            return manager
        }
        await wait(1)
        device.end(by: .system)
    }

    /// Ends the situation.
    func finish() -> Transcript {
        let authorization = device.center.snapshot.authorization
        recording.change { transcript, _ in transcript.authorization = authorization }
        // So that managers that outlive the app can belong to the next one.
        device.end(by: .system)
        return recording.current
    }
}
