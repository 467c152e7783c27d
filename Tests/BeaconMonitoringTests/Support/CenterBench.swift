import BeaconApplications
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport

/// A center with a virtual radio and one client, whose events are recorded as text.
final class CenterBench: Sendable {
    let center: BeaconCenter
    let radio = VirtualRadio()
    let client: ClientID
    private let log = EventLog()

    /// The first events of the client.
    let firstWords: [String]

    static let uuid = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
    static let everyone = BeaconConstraint(uuid: uuid)

    init(
        store: any RegionStore = MemoryRegionStore(), status: AuthorizationStatus = .always,
        radio state: RadioState = .poweredOn, maximumRegions: Int? = nil,
        launchStore: (any LaunchStore)? = nil, asksForMissedChanges: Bool = true
    ) async {
        var configuration = CenterConfiguration(application: ApplicationIdentity("test"), store: store)
        configuration.initialStatus = status
        configuration.maximumRegions = maximumRegions
        configuration.launchStore = launchStore
        center = BeaconCenter(configuration)
        client = center.makeClientID()
        center.addClient(client, log.note)
        // As a location manager does after it has delivered the authorization.
        if asksForMissedChanges { await center.deliverMissedChanges(to: client) }
        center.use(radio)
        await center.receive(.state(state))
        await center.request()
        firstWords = log.take()
    }

    /// Returns the client's events since the last call.
    func words() async -> [String] {
        // Work that was submitted to the center before is done first.
        await center.request()
        return log.take()
    }

    /// Returns when all pending writes are done.
    func finishWriting() async {
        await center.request()
        await withCheckedContinuation { continuation in
            center.performOnDisk { continuation.resume() }
        }
    }

    /// Adds a new client that requests missed changes, as a location manager does.
    func addClient() async -> (client: ClientID, log: EventLog) {
        let log = EventLog()
        let client = center.makeClientID()
        center.addClient(client, log.note)
        await center.deliverMissedChanges(to: client)
        return (client, log)
    }

    func time(_ seconds: Double) async {
        await center.receive(.heard(SourceBatch(upTo: Timestamp(nanoseconds: Int64(seconds * 1e9)))))
    }

    func hear(_ seconds: Double, minor: UInt16 = 1, rssi: Int8 = -60, address: UInt64 = 1) async {
        let sighting = Sighting(
            time: Timestamp(nanoseconds: Int64(seconds * 1e9)), receiver: ReceiverID(0),
            address: DeviceAddress(bits: address, kind: .random),
            identity: BeaconIdentity(uuid: Self.uuid, major: 1, minor: minor), measuredPower: -59,
            rssi: SignalStrength(rawValue: rssi))
        await center.receive(.heard(SourceBatch([sighting])))
    }

    func state(_ state: RadioState) async { await center.receive(.state(state)) }

    func sleep(from: Double, to: Double) async {
        await center.receive(
            .deaf(
                from: Timestamp(nanoseconds: Int64(from * 1e9)), to: Timestamp(nanoseconds: Int64(to * 1e9)),
                receiver: nil))
    }
}

/// The events of a client as text.
final class EventLog: Sendable {
    private let words = Locked<[String]>([])

    func note(_ event: ClientEvent) { words.withLock { $0.append(Self.word(event)) } }

    /// Returns the events since the last call.
    func take() -> [String] {
        words.withLock { words in
            defer { words = [] }
            return words
        }
    }

    /// Returns the events since the last call of ``take()``.
    func peek() -> [String] { words.withLock { $0 } }

    private static func word(_ event: ClientEvent) -> String {
        switch event {
        case .authorization(let status, let isAsking): "authorization \(status)\(isAsking ? ", asking" : "")"
        case .limits(let limits): "limits \(limits.rawValue)"
        case .heard(let adverts): "heard \(adverts.count)"
        case .radio(let state): "radio \(state)"
        case .started(let region): "started \(region.identifier)"
        case .monitoringFailed(let region, let failure): "failed \(region.identifier) \(failure)"
        case .determined(let region), .answered(let region): "\(region.identifier) \(region.state)"
        case .entered(let region): "enter \(region.identifier)"
        case .exited(let region): "exit \(region.identifier)"
        case .missedChangesEnded: "missed changes ended"
        case .condition(let report):
            "condition \(report.state) \(report.identity?.minor ?? 0)\(report.isBeyondLimit ? " beyond" : "")"
        case .ranged(_, let beacons, let time): "ranged \(time.seconds) \(beacons.map(\.identity.minor))"
        case .rangingFailed(let constraint, let failure, _):
            "ranging failed \(failure)\(constraint.minor.map { " \($0)" } ?? "")"
        case .advertising(.success): "advertising"
        case .advertising(.failure(let error)): "advertising failed \(error.code == .unsupported)"
        }
    }
}

/// The beacons of a client's ranging reports.
final class BeaconsLog: Sendable {
    private let beacons = Locked<[RangedBeacon]>([])

    func note(_ event: ClientEvent) {
        if case .ranged(_, let new, _) = event { beacons.withLock { $0 += new } }
    }

    var levels: [Int] { beacons.withLock { $0.map(\.rssi) } }
    var proximities: [Proximity] { beacons.withLock { $0.map(\.proximity) } }
}

/// A radio whose events a test sends.
final class VirtualRadio: Radio, Advertiser {
    private let (stream, continuation) = AsyncStream.makeStream(of: SourceEvent.self)
    private let log = Locked<(modes: [ScanMode], frames: [[OutgoingAdvert]])>(([], []))

    func events() -> AsyncStream<SourceEvent> { stream }
    var advertiser: (any Advertiser & Sendable)? { self }
    func scan(_ mode: ScanMode) { log.withLock { $0.modes.append(mode) } }
    func advertise(_ adverts: [OutgoingAdvert]) { log.withLock { $0.frames.append(adverts) } }

    /// Delivers an event to the reader, as a radio does.
    func send(_ event: SourceEvent) { continuation.yield(event) }

    /// The requests to the radio.
    var modes: [ScanMode] { log.withLock { $0.modes } }
    var frames: [[OutgoingAdvert]] { log.withLock { $0.frames } }
}

/// A store of regions that counts its writes, and whose disk may be full.
final class CountingStore: RegionStore {
    private let state = Locked<(regions: [RegisteredRegion], saves: Int, isFull: Bool)>(([], 0, false))

    var saves: Int { state.withLock { $0.saves } }

    func load() -> [RegisteredRegion] { state.withLock { $0.regions } }

    func fill(_ isFull: Bool) { state.withLock { $0.isFull = isFull } }

    func update(_ change: (inout [RegisteredRegion]) -> Void) throws(StateError) {
        let isFull = state.withLock { state in
            guard !state.isFull else { return true }
            state.saves += 1
            change(&state.regions)
            return false
        }
        if isFull { throw StateError(.cannotWrite, "the disk is full") }
    }
}

extension BeaconCenter {
    /// Does nothing, after all work that was submitted to the center before.
    fileprivate func request() {}
}
