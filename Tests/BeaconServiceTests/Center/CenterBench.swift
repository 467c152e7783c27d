import BeaconEngine
import BeaconModel
import BeaconRadio
import BeaconService

/// A center with a virtual radio and one client, whose events are kept in words.
final class CenterBench: Sendable {
    let center: BeaconCenter
    let radio = VirtualRadio()
    let client: ClientID
    private let log: Log

    /// What the client was told at its beginning.
    let firstWords: [String]

    private final class Log: Sendable {
        let words = Locked<[String]>([])

        func take() -> [String] {
            words.withLock { words in
                defer { words = [] }
                return words
            }
        }
    }

    static let uuid = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
    static let everyone = BeaconConstraint(uuid: uuid)

    init(
        store: any RegionStore = MemoryRegionStore(), status: AuthorizationStatus = .always,
        radio state: RadioState = .poweredOn, maximumRegions: Int? = nil,
        launchStore: (any LaunchStore)? = nil
    ) async {
        var configuration = CenterConfiguration(application: ApplicationIdentity("test"), store: store)
        configuration.initialStatus = status
        configuration.maximumRegions = maximumRegions
        configuration.launchStore = launchStore
        center = BeaconCenter(configuration)
        let log = Log()
        self.log = log
        client = center.makeClientID()
        center.addClient(client) { event in log.words.withLock { $0.append(Self.word(event)) } }
        center.use(radio)
        await center.receive(.state(state))
        await center.request()
        firstWords = log.take()
    }

    /// What the client was told since the last call.
    func words() async -> [String] {
        // What was handed to the center before is done before this is.
        await center.request()
        return log.take()
    }

    /// What a client is told that comes now.
    func wordsOfNewClient() async -> [String] {
        let log = Log()
        center.addClient(center.makeClientID()) { event in log.words.withLock { $0.append(Self.word(event)) } }
        await center.request()
        return log.take()
    }

    func time(_ seconds: Double) async { await center.receive(.time(Timestamp(nanoseconds: Int64(seconds * 1e9)))) }

    func hear(_ seconds: Double, minor: UInt16 = 1, rssi: Int8 = -60, address: UInt64 = 1) async {
        let sighting = Sighting(
            time: Timestamp(nanoseconds: Int64(seconds * 1e9)), receiver: ReceiverID(0),
            address: DeviceAddress(bits: address, kind: .random),
            identity: BeaconIdentity(uuid: Self.uuid, major: 1, minor: minor), measuredPower: -59,
            rssi: SignalStrength(rawValue: rssi))
        await center.receive(.sightings([sighting]))
    }

    private static func word(_ event: ClientEvent) -> String {
        switch event {
        case .authorization(let status): "authorization \(status)"
        case .radio(let state): "radio \(state)"
        case .started(let region): "started \(region.identifier)"
        case .monitoringFailed(let region, let failure): "failed \(region.identifier) \(failure)"
        case .determined(let region): "\(region.identifier) \(region.state)"
        case .entered(let region): "enter \(region.identifier)"
        case .exited(let region): "exit \(region.identifier)"
        case .watched(let report):
            "watch \(report.state) \(report.identity?.minor ?? 0)\(report.isBeyondLimit ? " beyond" : "")"
        case .ranged(_, let beacons, let time): "ranged \(time.seconds) \(beacons.map(\.identity.minor))"
        case .rangingFailed(_, let failure): "ranging failed \(failure)"
        case .advertising(.success): "advertising"
        case .advertising(.failure(let error)): "advertising failed \(error.code == .unsupported)"
        }
    }
}

extension BeaconCenter {
    /// Nothing, after all that was handed to the center before.
    fileprivate func request() {}
}
