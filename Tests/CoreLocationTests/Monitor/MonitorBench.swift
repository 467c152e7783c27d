import BeaconApplications
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import CoreLocation
import Testing

/// A center in virtual time, whose radio a test controls.
final class MonitorBench: Sendable {
    let center: BeaconCenter
    let radio = SilentRadio()

    init(
        store: any MonitorStore = MemoryMonitorStore(), status: AuthorizationStatus = .always,
        radio state: RadioState = .poweredOn
    ) async {
        var configuration = CenterConfiguration(application: ApplicationIdentity("test"), store: MemoryRegionStore())
        configuration.initialStatus = status
        configuration.monitorStore = store
        center = BeaconCenter(configuration)
        center.use(radio)
        await center.receive(.state(state))
    }

    func monitor(_ name: String = "shop") async -> CLMonitor {
        await BeaconCenter.withCurrent(center) { await CLMonitor(name) }
    }

    /// Returns when all work that was submitted to the center before has been done and written, including its
    /// consequences.
    func settle() async {
        for _ in 0..<3 {
            await center.doNothing()
            await withCheckedContinuation { continuation in
                center.performOnDisk { continuation.resume() }
            }
        }
    }

    /// Returns when no callback is under way, and all requests of callbacks are done.
    func settleCallbacks() async {
        while true {
            await center.doNothing()
            // The center has done a callback's requests once it has done another piece of work, since they were
            // submitted before the callback counted as made.
            if center.hasNoCallbacksUnderWay {
                await center.doNothing()
                if center.hasNoCallbacksUnderWay { return }
            }
            await Task.yield()
        }
    }

    func manager() -> CLLocationManager { BeaconCenter.withCurrent(center) { CLLocationManager() } }

    func time(_ seconds: Double) async {
        await center.receive(.heard(SourceBatch(upTo: Timestamp(nanoseconds: Int64(seconds * 1e9)))))
    }

    func hear(_ seconds: Double, major: UInt16 = 1, minor: UInt16 = 1) async {
        let sighting = Sighting(
            time: Timestamp(nanoseconds: Int64(seconds * 1e9)), receiver: ReceiverID(0),
            address: DeviceAddress(bits: UInt64(minor), kind: .random),
            identity: BeaconIdentity(
                uuid: ProximityUUID(high: 0x39ED_98FF_2900_441A, low: 0x802F_9C39_8FC1_99D2), major: major,
                minor: minor),
            measuredPower: -59, rssi: SignalStrength(rawValue: -60))
        await center.receive(.heard(SourceBatch([sighting])))
    }
}

/// A radio that sends no events by itself, and records its requests.
final class SilentRadio: Radio {
    private let (stream, continuation) = AsyncStream.makeStream(of: SourceEvent.self)
    private let log = Locked<[ScanMode]>([])

    func events() -> AsyncStream<SourceEvent> { stream }
    var advertiser: (any Advertiser & Sendable)? { nil }
    func scan(_ mode: ScanMode) { log.withLock { $0.append(mode) } }

    var modes: [ScanMode] { log.withLock { $0 } }
}

extension BeaconCenter {
    fileprivate func doNothing() {}
}

/// Events as text, one after another.
struct EventReader {
    private var iterator: CLMonitor.Events.Iterator

    init(_ monitor: CLMonitor) async { iterator = await monitor.events.makeAsyncIterator() }

    mutating func next() async throws -> CLMonitor.Event { try #require(try await iterator.next()) }

    /// The next event: its identifier, state, second and obstacles.
    mutating func word() async throws -> String { try await next().word }
}

extension CLMonitor.Event {
    var word: String {
        let flags = [
            authorizationDenied ? "denied" : nil, authorizationRestricted ? "restricted" : nil,
            conditionUnsupported ? "unsupported" : nil, conditionLimitExceeded ? "limit" : nil,
            persistenceUnavailable ? "unkept" : nil,
        ]
        return (["\(identifier) \(state) \(Int(date.timeIntervalSince1970))"] + flags.compactMap(\.self))
            .joined(separator: " ")
    }
}

/// All beacons with the bench's UUID.
let everyone = CLMonitor.BeaconIdentityCondition(uuid: deployment)
let disc = CLMonitor.CircularGeographicCondition(
    center: CLLocationCoordinate2D(latitude: 1, longitude: 2), radius: 3)
