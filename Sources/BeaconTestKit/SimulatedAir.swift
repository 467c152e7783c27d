internal import BeaconApplications
internal import BeaconModel
internal import BeaconMonitoring
internal import BeaconRadio
internal import BeaconSimulation
internal import BeaconSupport
public import CoreLocation

/// The air around a device in a test: beacons are placed and moved in it, and its time passes only when the test
/// advances it.
///
/// ```swift
/// let air = SimulatedAir()
/// air.install()
/// let guide = MuseumGuide()          // the app's own class with its CLLocationManager
/// let painting = air.place(SimulatedBeacon(uuid: museum, major: 1, minor: 7, at: .distance(20)))
/// await air.advance(by: .seconds(15))
/// painting.move(toDistance: 1)
/// await air.advance(by: .seconds(5))
/// #expect(guide.exhibit == 7)
/// ```
///
/// When `advance(by:)` returns, every callback that was due by then has been made, and the tasks that callbacks woke
/// have run. Their requests were made at the time at which the callback was due. A day passes in seconds.
/// `advance(by:)` says which tasks it waits for.
///
/// The physics are those of scenarios and of the air that processes share, in an empty room: the signal falls by
/// 17.5 dB with each tenfold distance, which ranging assumes too, and is lost below -100 dBm. It does not fade by
/// chance, so that a test which passes once passes always; ``noise`` adds chance from a seed.
public final class SimulatedAir: Sendable {
    struct Transmitter {
        var beacon: SimulatedBeacon
        var address: UInt64
        var next: Int64
    }

    struct State {
        var now: Int64
        var physics: SteadyAir
        var nextAddress: UInt64 = 1
        var nextNumber = 0
        var transmitters: [Int: Transmitter] = [:]
        var devices: [SimulatedDevice] = []
        /// The time at which each device sends its adverts next.
        var deviceNext: Int64 = 0
        /// What had changed in the devices when all was handled last.
        var settledChanges: UInt64?
        /// True where a task did not come to rest, so that none is waited for as long again.
        var isImpatient = false
    }

    /// The weakest signal in dBm that is heard; receivers of phones lose adverts at about that level.
    public static let sensitivity = -100.0

    /// The end of time, in nanoseconds since 1970: in the year 2255, with room for what is due after it.
    private static let end: Int64 = 9_000_000_000_000_000_000

    let state: Locked<State>

    /// The tasks that the test itself began.
    let begun = WorkCount()

    /// Creates an air with the device under test alone, whose Bluetooth is on.
    ///
    /// - Parameters:
    ///   - authorization: the app's authorization at first.
    ///   - start: the time at which the test begins, between 1970 and 2255.
    ///   - seed: the seed of ``noise``.
    public init(
        authorization: CLAuthorizationStatus = .authorizedAlways,
        start: Date = Date(timeIntervalSince1970: 1_700_000_000), seed: UInt64 = 1
    ) {
        let seconds = start.timeIntervalSince1970
        let now = seconds > 0 ? Int64(min(seconds * 1e9, Double(Self.end))) : 0
        state = Locked(
            State(now: now, physics: SteadyAir(sensitivity: Self.sensitivity, seed: seed), deviceNext: now))
        WokenTasks.begin()
        _ = makeDevice("device", at: .distance(0), authorization: authorization)
    }

    deinit { WokenTasks.forget(tasks) }

    /// The device under test, at the origin.
    public var device: SimulatedDevice {
        WokenTasks.noteTest(begun)
        return state.withLock { $0.devices[0] }
    }

    /// Adds another device, which hears what is in the air and what other devices send.
    public func makeDevice(
        _ name: String, at position: Position, authorization: CLAuthorizationStatus = .authorizedAlways
    ) -> SimulatedDevice {
        WokenTasks.noteTest(begun)
        let number = state.withLock { $0.devices.count }
        let device = SimulatedDevice(
            name: name, number: number, position: position, authorization: authorization)
        let now = state.withLock { state in
            state.devices.append(device)
            return state.now
        }
        device.receive(.heard(SourceBatch(upTo: Timestamp(nanoseconds: now))))
        device.receive(.state(.poweredOn))
        return device
    }

    /// Installs the device under test: managers that are made from now on in this process belong to it.
    public func install() { device.install() }

    /// The time in the air.
    public var now: Date { Date(timeIntervalSince1970: Double(state.withLock { $0.now }) / 1e9) }

    /// The standard deviation in decibels of signals around the level of their distance; zero at first. Indoors it is 4
    /// to 6.
    public var noise: Double {
        get { state.withLock { $0.physics.noise } }
        set { state.withLock { $0.physics.noise = newValue } }
    }

    // MARK: - Beacons

    /// Places a beacon, which begins to advertise.
    @discardableResult
    public func place(_ beacon: SimulatedBeacon) -> PlacedBeacon {
        WokenTasks.noteTest(begun)
        return state.withLock { state in
            let number = state.nextNumber
            state.nextNumber += 1
            state.transmitters[number] = Transmitter(
                beacon: beacon, address: Self.newAddress(&state), next: Self.time(beacon.interval, after: state.now))
            return PlacedBeacon(number: number, air: self)
        }
    }

    func change(_ beacon: PlacedBeacon, _ body: (inout Transmitter) -> Void) {
        state.withLock { state in
            guard var transmitter = state.transmitters[beacon.number] else { return }
            body(&transmitter)
            state.transmitters[beacon.number] = transmitter
        }
    }

    func changeAddress(of beacon: PlacedBeacon) {
        state.withLock { state in
            let address = Self.newAddress(&state)
            state.transmitters[beacon.number]?.address = address
        }
    }

    func remove(_ beacon: PlacedBeacon) {
        state.withLock { state in
            state.transmitters[beacon.number] = nil
            state.physics.remove(sender: beacon.number)
        }
    }

    private static func newAddress(_ state: inout State) -> UInt64 {
        defer { state.nextAddress += 1 }
        // A static random address has its two highest bits set.
        return 0xC000_0000_0000 | state.nextAddress
    }

    private static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        guard seconds < end / 1_000_000_000 else { return end }
        return seconds < 0 ? 1_000_000 : max(1_000_000, seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    /// Returns the time a duration after another, or the end of time.
    private static func time(_ duration: Duration, after time: Int64) -> Int64 {
        time + min(nanoseconds(duration), max(0, end - time))
    }

    // MARK: - Time

    /// Advances the time, until 2255 at most. When it returns, every callback that was due by then has been made, and
    /// these tasks have run until they wait for something else:
    ///
    /// - those that callbacks and events woke, those that were begun in ``SimulatedDevice/run(_:)``, and those that the
    ///   test's own task began, if that is the task that made the air or has called it;
    /// - and whatever they woke or began in turn, on any actor.
    ///
    /// Tasks of the main actor, whoever began them, are waited for while they go to other actors and come back, six
    /// times in a row at least. Calls that such a task makes outside of `run`, and tasks that it begins there, may be
    /// those of another test. They are waited for during 64 jobs in a row, and half a second for each.
    ///
    /// Not waited for are closures on dispatch queues, executors other than the default one and the main actor's, what
    /// sleeps by the wall clock or waits for a file or a socket, and a task that has run for 10 seconds without waiting
    /// for anything, which is said on standard error. A task that calls `Task.yield` may be taken for one that waits.
    ///
    /// The main queue has to be free to make callbacks, which it is while a test waits here.
    public func advance(by duration: Duration) async {
        await settle()
        let end = Self.time(duration, after: state.withLock { $0.now })
        while let step = nextStep(until: end) {
            perform(step)
            if !isUnchanged { await settle() }
        }
    }

    /// Advances the time, on the main thread, whose run loop makes the callbacks meanwhile. When it returns, every
    /// callback that was due by then has been made, and tasks have run as after the asynchronous form. Tasks that a
    /// test begins outside of any task count as those of the main actor.
    ///
    /// A test that is itself a job of the main queue, as Swift Testing's on the main actor are, has to use the
    /// asynchronous form.
    @available(*, noasync, message: "use 'await advance(by:)'")
    public func advance(by duration: Duration) {
        settleOnRunLoop()
        let end = Self.time(duration, after: state.withLock { $0.now })
        while let step = nextStep(until: end) {
            perform(step)
            if !isUnchanged { settleOnRunLoop() }
        }
    }

    /// A moment at which something happens.
    private struct Step {
        var time: Int64
        /// What is sent at that moment.
        var sent: [Sent] = []
    }

    /// An advert that is sent.
    private struct Sent {
        var advert: OutgoingAdvert
        /// The signal at one metre, in dBm.
        var power: Int8
        var position: Position
        /// The number of the sender.
        var number: Int
        var address: UInt64
        /// The device that sends it; nil for a beacon.
        var device: Int?
    }

    /// Returns the next moment up to `end` at which something is sent or a second is full; nil once `end` has been
    /// reached.
    private func nextStep(until end: Int64) -> Step? {
        state.withLock { state -> Step? in
            guard state.now < end else { return nil }
            let second = (state.now / 1_000_000_000 + 1) * 1_000_000_000
            var time = min(second, end)
            for transmitter in state.transmitters.values { time = min(time, max(transmitter.next, state.now + 1)) }
            let hasAdverts = state.devices.contains { !$0.adverts.isEmpty }
            if hasAdverts {
                state.deviceNext = max(state.deviceNext, state.now + 1)
                time = min(time, state.deviceNext)
            }
            var step = Step(time: time)
            // In the order in which they were placed, so that chance follows the seed.
            for number in state.transmitters.keys.sorted() {
                guard var transmitter = state.transmitters[number], transmitter.next <= time else { continue }
                let beacon = transmitter.beacon
                step.sent.append(
                    Sent(
                        advert: OutgoingAdvert(beacon.frame), power: beacon.measuredPower, position: beacon.position,
                        number: number, address: transmitter.address))
                transmitter.next = Self.time(transmitter.beacon.interval, after: time)
                state.transmitters[number] = transmitter
            }
            if hasAdverts, state.deviceNext <= time {
                for device in state.devices {
                    for (index, advert) in device.adverts.enumerated() {
                        step.sent.append(
                            Sent(
                                advert: advert,
                                power: advert.frame?.measuredPower ?? IBeaconFrame.defaultMeasuredPower,
                                position: device.position,
                                // Those of devices count downward from -1.
                                number: -1 - (device.number << 8 | index),
                                address: 0xD000_0000_0000 | UInt64(device.number) << 8 | UInt64(index),
                                device: device.number))
                    }
                }
                // Apple's licence for beacons fixes the interval at 100 ms, and iOS devices keep to it.
                state.deviceNext = time + 100_000_000
            }
            state.now = time
            return step
        }
    }

    private func perform(_ step: Step) {
        let time = Timestamp(nanoseconds: step.time)
        for device in state.withLock({ $0.devices }) {
            var batch = SourceBatch(upTo: time)
            let place = device.position
            for sent in step.sent where sent.device != device.number {
                let link = SteadyAir.Link(sender: sent.number, receiver: device.number)
                let rssi = state.withLock {
                    $0.physics.strength(
                        measuredPower: sent.power, of: link, at: step.time, from: sent.position.point, to: place.point)
                }
                if let rssi { Self.add(sent, rssi, at: time, to: &batch, device.scanMode) }
            }
            device.receive(.heard(batch))
        }
    }

    /// Adds an advert as a radio in a scan mode hears it.
    private static func add(
        _ sent: Sent, _ rssi: SignalStrength, at time: Timestamp, to batch: inout SourceBatch, _ mode: ScanMode
    ) {
        guard mode != .off else { return }
        let address = DeviceAddress(bits: sent.address, kind: .random)
        if let frame = sent.advert.frame {
            batch.sightings.append(
                Sighting(
                    time: time, receiver: ReceiverID(0), address: address, identity: frame.identity,
                    measuredPower: frame.measuredPower, rssi: rssi))
        }
        guard mode == .discovery else { return }
        func hear(_ kind: AdvertisingReport.Kind, _ bytes: [UInt8]) {
            let report = AdvertisingReport(kind: kind, address: address, rssi: rssi)
            batch.adverts.append(
                HeardAdvert(Reception(time: time, receiver: ReceiverID(0), report: report), bytes: bytes))
        }
        let response = sent.advert.scanResponse
        hear(response.isEmpty ? .nonConnectable : .scannable, sent.advert.advert)
        if !response.isEmpty { hear(.scanResponse, response) }
    }
}
