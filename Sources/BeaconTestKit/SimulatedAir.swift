internal import BeaconApplications
internal import BeaconModel
internal import BeaconMonitoring
internal import BeaconRadio
internal import BeaconSimulation
internal import BeaconSupport
public import CoreLocation
internal import Synchronization

/// The air around a device in a test. The test places and moves beacons in it, and its time passes only when the test
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
/// have run. Their requests were made at the time of the callback. A day passes in seconds. See `advance(by:)` for the
/// tasks that it waits for.
///
/// The physics are the same as in scenarios and in the shared air, in an empty room. The signal falls by 15 dB per
/// tenfold distance within a meter and by 17.5 dB beyond, as ranging assumes, and is lost below -100 dBm. It does not
/// vary randomly, so that a test that passes once always passes; ``noise`` adds random variation from a seed.
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
        /// The time at which the devices send their adverts next.
        var deviceNext: Int64 = 0
        /// The devices' change number when everything was last handled.
        var settledChanges: UInt64?
        /// True if a task did not come to rest, so that the air no longer waits as long.
        var hasTimedOut = false
    }

    /// The weakest signal that is heard, in dBm. Phones' receivers lose adverts at about that level.
    public static let sensitivity = -100.0

    /// The latest time, in nanoseconds since 1970: in the year 2255, with room for events due after it.
    private static let end: Int64 = 9_000_000_000_000_000_000

    let state: Locked<State>
    /// The place in the source that created the air, for messages, and its number.
    private let name: (origin: String, number: UInt64)
    private static let count = Atomic<UInt64>(0)
    private let seed: UInt64

    /// The control of the process's clock; nil without.
    let clock: ClockControl?

    /// The tasks that the test itself started.
    let begun = WorkCount()

    /// Creates an air with the device under test, whose Bluetooth is on.
    ///
    /// - Parameters:
    ///   - authorization: the app's initial authorization.
    ///   - start: the start time of the test, between 1970 and 2255.
    ///   - seed: the seed of ``noise``, and of random values of a ``BackgroundPolicy``.
    ///   - controlsTime: true if the clock of the whole process follows this air's time until the air is deallocated:
    ///     sleeps, timers, time-outs and dates of the app and of the test. See ``controlsTime``.
    ///   - fileID: the file that creates the air, for messages.
    ///   - line: the line that creates the air, for messages.
    public init(
        authorization: CLAuthorizationStatus = .authorizedAlways,
        start: Date = Date(timeIntervalSince1970: 1_700_000_000), seed: UInt64 = 1, controlsTime: Bool = false,
        fileID: String = #fileID, line: Int = #line
    ) {
        name = ("\(fileID):\(line)", Self.count.wrappingAdd(1, ordering: .relaxed).newValue)
        self.seed = seed
        let seconds = start.timeIntervalSince1970
        let now = seconds > 0 ? Int64(min(seconds * 1e9, Double(Self.end))) : 0
        state = Locked(
            State(now: now, physics: SteadyAir(sensitivity: Self.sensitivity, seed: seed), deviceNext: now))
        clock = controlsTime ? ClockControl(at: now) : nil
        WokenTasks.begin()
        followPauses(of: makeDevice("device", at: .distance(0), authorization: authorization))
    }

    deinit {
        for device in state.withLock({ $0.devices }) { device.endWithAir() }
        WokenTasks.forget(tasks)
    }

    /// The device under test, at the origin.
    public var device: SimulatedDevice {
        WokenTasks.noteTest(begun)
        return state.withLock { $0.devices[0] }
    }

    /// Adds another device, which hears the beacons and the other devices.
    public func makeDevice(
        _ name: String, at position: Position, authorization: CLAuthorizationStatus = .authorizedAlways
    ) -> SimulatedDevice {
        WokenTasks.noteTest(begun)
        let number = state.withLock { $0.devices.count }
        let device = SimulatedDevice(
            name: name, number: number, position: position, authorization: authorization, air: self.name,
            seed: seed)
        let now = state.withLock { state in
            state.devices.append(device)
            return state.now
        }
        device.receive(.heard(SourceBatch(upTo: Timestamp(nanoseconds: now))))
        device.receive(.state(.poweredOn))
        return device
    }

    /// Installs the device under test: managers that this process creates from now on belong to it.
    public func install() { device.install() }

    /// The time in the air.
    public var now: Date { Date(timeIntervalSince1970: Double(state.withLock { $0.now }) / 1e9) }

    /// The standard deviation of signals around the level for their distance, in decibels; initially zero. Indoors, 4
    /// to 6 are usual.
    public var noise: Double {
        get { state.withLock { $0.physics.noise } }
        set { state.withLock { $0.physics.noise = newValue } }
    }

    // MARK: - Beacons

    /// Places a beacon, which starts to advertise.
    @discardableResult
    public func place(_ beacon: SimulatedBeacon) -> PlacedBeacon {
        WokenTasks.noteTest(begun)
        return state.withLock { state in
            let number = state.nextNumber
            state.nextNumber += 1
            state.transmitters[number] = Transmitter(
                beacon: beacon, address: Self.newAddress(&state), next: Self.time(ofNext: beacon, after: state.now))
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

    /// Returns the time of a beacon's next advert. The shortest interval is a millisecond.
    private static func time(ofNext beacon: SimulatedBeacon, after time: Int64) -> Int64 {
        Self.time(max(beacon.interval, .milliseconds(1)), after: time)
    }

    /// Returns the time after a duration, limited to the latest time. A negative duration counts as zero.
    private static func time(_ duration: Duration, after time: Int64) -> Int64 {
        time + min(duration.nanoseconds(upTo: end / 1_000_000_000), max(0, end - time))
    }

    // MARK: - Time

    /// Advances the time, until 2255 at most. When it returns, every callback that was due by then has been made, and
    /// these tasks have run until they wait for something else:
    ///
    /// - tasks that callbacks and events woke, tasks that were started in ``SimulatedDevice/run(_:)``, and tasks that
    ///   the test's own task started, if that task created or called the air;
    /// - all tasks that these woke or started, on any actor.
    ///
    /// It also waits for tasks of the main actor, whatever started them, while they switch to other actors and back, at
    /// least six times in a row. Calls that such a task makes outside of `run`, and tasks that it starts there, may
    /// belong to another test. The wait for those is limited to 64 jobs in a row, and half a second for each.
    ///
    /// It does not wait for closures on dispatch queues, for executors other than the default one and the main actor's,
    /// for tasks that sleep by the wall clock or wait for a file or a socket, or for a task that has run for 10 seconds
    /// without waiting, which is reported on standard error. A task that calls `Task.yield` may count as waiting.
    ///
    /// If the air controls the process's clock, it waits for closures and sleeps, too. See ``controlsTime``.
    ///
    /// The main queue must be free to make callbacks, which it is while a test waits here.
    public func advance(by duration: Duration) async {
        if controlsTime { return await onClockQueue { $0.advanceProcess(by: duration) } }
        await settle()
        let end = end(of: duration)
        while let step = nextStep(until: end) {
            perform(step)
            if !isUnchanged { await settle() }
        }
    }

    /// Advances the time on the main thread, whose run loop makes the callbacks. When it returns, every callback that
    /// was due by then has been made, and tasks have run as with the asynchronous form. Tasks that a test starts
    /// outside of any task count as tasks of the main actor.
    ///
    /// A test that is itself a job of the main queue, such as a Swift Testing test on the main actor, must use the
    /// asynchronous form.
    @available(*, noasync, message: "use 'await advance(by:)'")
    public func advance(by duration: Duration) {
        if controlsTime { return onClockQueueWithRunLoop { $0.advanceProcess(by: duration) } }
        settleOnRunLoop()
        let end = end(of: duration)
        while let step = nextStep(until: end) {
            perform(step)
            if !isUnchanged { settleOnRunLoop() }
        }
    }

    /// Returns the time after a duration from now.
    func end(of duration: Duration) -> Int64 { Self.time(duration, after: state.withLock { $0.now }) }

    /// A time at which something happens.
    struct Step {
        var time: Int64
        /// The adverts that are sent at that time.
        fileprivate var sent: [Sent] = []
    }

    /// An advert that is sent.
    fileprivate struct Sent {
        var advert: OutgoingAdvert
        /// The signal at one meter, in dBm.
        var power: Int8
        var position: Position
        /// The number of the sender.
        var number: Int
        var address: UInt64
        /// The device that sends it; nil for a beacon.
        var device: Int?
    }

    /// Returns the next time up to `end` at which an advert is sent, a second ends or the process waits for the time;
    /// nil once `end` has been reached.
    func nextStep(until end: Int64) -> Step? {
        let deadline = clock?.nextDeadline ?? end
        return state.withLock { state -> Step? in
            guard state.now < end else { return nil }
            let second = (state.now / 1_000_000_000 + 1) * 1_000_000_000
            var time = min(second, end, max(deadline, state.now + 1))
            for device in state.devices { time = min(time, max(device.application.deadline, state.now + 1)) }
            for transmitter in state.transmitters.values { time = min(time, max(transmitter.next, state.now + 1)) }
            let hasAdverts = state.devices.contains { !$0.adverts.isEmpty }
            if hasAdverts {
                state.deviceNext = max(state.deviceNext, state.now + 1)
                time = min(time, state.deviceNext)
            }
            var step = Step(time: time)
            // In the order in which they were placed, so that random values follow the seed.
            for number in state.transmitters.keys.sorted() {
                guard var transmitter = state.transmitters[number], transmitter.next <= time else { continue }
                let beacon = transmitter.beacon
                step.sent.append(
                    Sent(
                        advert: OutgoingAdvert(beacon.frame), power: beacon.measuredPower, position: beacon.position,
                        number: number, address: transmitter.address))
                transmitter.next = Self.time(ofNext: beacon, after: time)
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
                                // Devices count downward from -1.
                                number: -1 - (device.number << 8 | index),
                                address: 0xD000_0000_0000 | UInt64(device.number) << 8 | UInt64(index),
                                device: device.number))
                    }
                }
                // Apple's license for beacons fixes the interval at 100 ms, and iOS devices comply.
                state.deviceNext = time + 100_000_000
            }
            state.now = time
            return step
        }
    }

    func perform(_ step: Step) {
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

    /// Adds an advert in the form that a radio in this scan mode receives.
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
