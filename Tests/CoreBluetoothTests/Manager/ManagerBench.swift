import BeaconApplications
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import CoreBluetooth
import CoreLocation
import Dispatch
import Logging

/// A center with a radio that a test controls, and an app's queue.
final class ManagerBench: Sendable {
    let center: BeaconCenter
    let radio = RecordingRadio()
    let queue = DispatchQueue(label: "app")

    /// - Parameter state: the radio's initial report; nil if it has not reported yet.
    init(_ state: RadioState? = nil, hidesBeacons: Bool = true) async {
        LogRecord.begin()
        var configuration = CenterConfiguration(
            application: ApplicationIdentity("test"), store: MemoryRegionStore())
        configuration.hidesBeaconsFromScans = hidesBeacons
        center = BeaconCenter(configuration)
        center.use(radio)
        if let state { await deliver(.state(state)) }
    }

    /// Creates a bench whose radio is on, and a manager that knows it.
    static func withManager() async -> (bench: ManagerBench, witness: Witness, manager: CBPeripheralManager) {
        let bench = await ManagerBench(.poweredOn)
        let witness = Witness()
        let manager = bench.makeManager(witness)
        await bench.settle()
        return (bench, witness, manager)
    }

    /// Starts to advertise the first beacon with a manager, and lets the radio answer.
    func advertise(_ manager: CBPeripheralManager) async {
        manager.startAdvertising(Self.beacon())
        await settle()
        await deliver(.advertising(Self.frame(), .success(())))
    }

    func makeManager(_ delegate: (any CBPeripheralManagerDelegate)?) -> CBPeripheralManager {
        BeaconCenter.withCurrent(center) { CBPeripheralManager(delegate: delegate, queue: queue) }
    }

    /// Delivers events of the radio, and returns when all consequences have happened.
    func deliver(_ events: SourceEvent...) async {
        for event in events { await center.receive(event) }
        await settle()
    }

    /// Waits until nothing is under way to or from the center.
    func settle() async {
        while true {
            await center.finish()
            // A callback's requests are done once the center has finished again.
            if center.hasNoCallbacksUnderWay {
                await center.finish()
                if center.hasNoCallbacksUnderWay { return }
            }
            await Task.yield()
        }
    }

    static let uuid = UUID(uuidString: "39ED98FF-2900-441A-802F-9C398FC199D2") ?? UUID()

    /// The advertisement data of a beacon.
    static func beacon(minor: UInt16 = 1) -> [String: Any] {
        let region = CLBeaconRegion(uuid: uuid, major: 100, minor: minor, identifier: "beacon")
        return region.peripheralData(withMeasuredPower: nil) as? [String: Any] ?? [:]
    }

    /// The frame for these data, with the numbers from the listing in Apple's article.
    static func frame(minor: UInt16 = 1) -> OutgoingAdvert {
        OutgoingAdvert(
            IBeaconFrame(
                identity: BeaconIdentity(
                    uuid: ProximityUUID(high: 0x39ED_98FF_2900_441A, low: 0x802F_9C39_8FC1_99D2), major: 100,
                    minor: minor),
                measuredPower: -59))
    }
}

extension BeaconCenter {
    /// Does nothing, after all work that was submitted to the center before.
    fileprivate func finish() {}
}

extension CBManager {
    /// The log lines about it. Addresses are reused, so that a line may be about an earlier object: count only new
    /// lines.
    var logLines: [String] {
        LogRecord.lines(about: "0x" + String(UInt(bitPattern: ObjectIdentifier(self)), radix: 16) + ">")
    }

    /// How often its misuse was logged.
    var misuses: Int {
        logLines.filter {
            $0.hasPrefix("API MISUSE: <CB")
                && $0.hasSuffix("can only accept this command while in the powered on state")
        }.count
    }
}

/// A radio that records its requests. A test delivers the radio's events to the center itself.
final class RecordingRadio: Radio, Advertiser {
    private let log = Locked<[[OutgoingAdvert]]>([])
    private let scans = Locked<[ScanMode]>([])

    func events() -> AsyncStream<SourceEvent> { AsyncStream { _ in } }
    var advertiser: (any Advertiser & Sendable)? { self }
    func scan(_ mode: ScanMode) { scans.withLock { $0.append(mode) } }
    func advertise(_ adverts: [OutgoingAdvert]) { log.withLock { $0.append(adverts) } }

    /// All requests to send, one set after another.
    var requests: [[OutgoingAdvert]] { log.withLock { $0 } }

    /// The requested scan modes.
    var modes: [ScanMode] { scans.withLock { $0 } }

    /// The adverts that it would be sending now.
    var frames: [OutgoingAdvert] { requests.last ?? [] }
}

/// The log of this process. Parallel tests distinguish their lines by the address of their manager.
enum LogRecord {
    private static let lines = Locked<[String]>([])
    private static let isOn: Void = LoggingSystem.bootstrap { _ in Handler() }

    /// Redirects logging to this type.
    static func begin() { _ = isOn }

    static func lines(about text: String) -> [String] { lines.withLock { $0.filter { $0.contains(text) } } }

    private struct Handler: LogHandler {
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { LogRecord.lines.withLock { $0.append("\(event.message)") } }
    }
}
