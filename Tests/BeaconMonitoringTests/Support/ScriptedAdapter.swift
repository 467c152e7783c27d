import BeaconModel
import BeaconSupport

@testable import BeaconMonitoring
@testable import BeaconRadio

/// A machine whose time advances when the source waits, and its scripted adapter.
final class ScriptedMachine: Sendable {
    private struct Script {
        var now = Timestamp(nanoseconds: 1_700_000_000_000_000_000)
        var asleep: Int64 = 0
        /// The additional duration of the next wait, in nanoseconds.
        var delay: Int64 = 0
        var state = RadioState.poweredOn
        var beacon: IBeaconFrame?
        var steps = 0
        var isClosed = false
    }

    private let script = Locked(Script())

    static let start = Timestamp(nanoseconds: 1_700_000_000_000_000_000)

    /// The adapter's state.
    var state: RadioState {
        get { script.withLock { $0.state } }
        set { script.withLock { $0.state = newValue } }
    }

    /// A beacon that is heard each time the adapter is read; nil for silence.
    var beacon: IBeaconFrame? {
        get { script.withLock { $0.beacon } }
        set { script.withLock { $0.beacon = newValue } }
    }

    /// The number of times that the adapter was read.
    var steps: Int { script.withLock { $0.steps } }

    /// True once the adapter has been closed.
    var isClosed: Bool { script.withLock { $0.isClosed } }

    /// Delays the end of the next wait, as if the machine slept.
    func sleep(_ seconds: Int64) {
        script.withLock {
            $0.delay = seconds * Timestamp.nanosecondsPerSecond
            $0.asleep += $0.delay
        }
    }

    /// Delays the end of the next wait, as if the process were stopped.
    func stop(_ seconds: Int64) { script.withLock { $0.delay = seconds * Timestamp.nanosecondsPerSecond } }

    /// Returns a source that uses only the adapter.
    func makeSource(
        mode: ScanMode = .ranging, waker: Waker = Waker(), report: @escaping (SourceEvent) -> Void = { _ in }
    ) -> SourceReader {
        let clock = LoopClock(
            now: { self.script.withLock { $0.now } }, wallAhead: { 0 }, asleep: { self.script.withLock { $0.asleep } },
            wait: { _, nanoseconds in
                self.script.withLock {
                    $0.now = $0.now.advanced(by: nanoseconds + $0.delay)
                    $0.delay = 0
                }
            })
        return SourceReader([Adapter(self)], mode: mode, waker: waker, clock: clock, report: report)
    }

    /// Returns a session that reads the adapter.
    func makeSession(_ configuration: MonitoringSession.Configuration) -> MonitoringSession {
        MonitoringSession(configuration, source: makeSource(), pace: .fastest)
    }

    private final class Adapter: ReceiverDriver {
        let name = "hci0"
        private let machine: ScriptedMachine

        init(_ machine: ScriptedMachine) { self.machine = machine }

        var state: RadioState { machine.state }

        func process(at now: Timestamp, into batch: inout AdvertBatch) {
            let (state, beacon) = machine.script.withLock { script in
                script.steps += 1
                return (script.state, script.beacon)
            }
            guard state == .poweredOn, let advert = beacon?.advert else { return }
            let report = AdvertisingReport(
                kind: .nonConnectable, address: DeviceAddress(bits: 1, kind: .random),
                rssi: SignalStrength(rawValue: -60))
            batch.hear(Reception(time: now, receiver: batch.firstReceiver, report: report), advert.span.bytes)
        }

        func close() { machine.script.withLock { $0.isClosed = true } }
    }
}

/// A session over a scripted machine, second by second, with its events as text.
struct SessionBench: ~Copyable {
    let machine = ScriptedMachine()
    private var session: MonitoringSession

    static let frame = IBeaconFrame(
        identity: BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 3, minor: 4), measuredPower: -59)

    init(isRanging: Bool = false, assuming state: RegionState = .unknown, heldBy holder: String? = nil) {
        var configuration = MonitoringSession.Configuration()
        configuration.regions = [
            .init(
                name: "hall", region: MonitoredRegion(BeaconConstraint(Self.frame.identity)), assuming: state,
                heldBy: holder)
        ]
        if isRanging { configuration.rangings = [nil] }
        session = machine.makeSession(configuration)
    }

    /// The seconds that have passed.
    var seconds: Double { session.time.map { Self.seconds($0) } ?? 0 }

    private static func seconds(_ time: Timestamp) -> Double { Double(time.since(ScriptedMachine.start)) / 1e9 }

    /// Lets the session read once, which takes a second unless the machine sleeps.
    mutating func step() throws -> [String] {
        var words: [String] = []
        _ = try session.step { event in
            switch event {
            case .region(let change): words.append("\(change.kind) \(change.state) \(Self.seconds(change.time))")
            case .placed, .located, .suspected: break
            case .ranged(let report): words.append("ranged \(Self.seconds(report.time))")
            }
        }
        return words
    }

    /// Lets the session read several times.
    mutating func steps(_ count: Int) throws -> [String] {
        var words: [String] = []
        for _ in 0..<count { words += try step() }
        return words
    }
}
