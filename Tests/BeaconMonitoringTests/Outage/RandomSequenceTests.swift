import BeaconApplications
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import Dispatch
import Testing

@Suite("A center in random sequences of events")
struct RandomSequenceTests {
    @Test(
        "Entries and exits alternate, only heard silence counts, and the disk has the known states",
        arguments: UInt64(0)..<400)
    func sequence(seed: UInt64) {
        var run = RandomRun(seed: seed)
        for _ in 0..<150 where run.faults.isEmpty { run.step() }
        run.finish()
        #expect(run.faults.isEmpty, "after \(run.history.suffix(40))")
    }
}

/// A random sequence of events for a center, and the invariants of its clients' events.
private struct RandomRun {
    private static let regions = [
        RegisteredRegion(identifier: "all", constraint: CenterBench.everyone),
        RegisteredRegion(identifier: "one", constraint: BeaconConstraint(uuid: CenterBench.uuid, major: 1, minor: 1)),
        RegisteredRegion(identifier: "two", constraint: BeaconConstraint(uuid: CenterBench.uuid, major: 1, minor: 2)),
    ]

    private struct Client {
        var id: ClientID
        var log: EventLog
        var isRanging = false
        /// The time at which ranging started; older reports are wrong.
        var rangingSince = 0.0
    }

    private struct Region {
        /// The last delivered state other than unknown.
        var known = RegionState.unknown
        /// How long the radio has listened since it heard the region's beacon, or since monitoring started.
        var silence = 0.0
    }

    private var random: SplitMix64
    private let store = MemoryRegionStore()
    private let center: BeaconCenter
    private var clients: [Client] = []
    private var removed: [EventLog] = []
    private var monitored: [String: Region] = [:]
    private var time = 1000.0
    private var radio = RadioState.poweredOn
    private var status = AuthorizationStatus.always

    private(set) var faults: [String] = []
    private(set) var history: [String] = []

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        var configuration = CenterConfiguration(application: ApplicationIdentity("test"), store: store)
        configuration.initialStatus = .always
        center = BeaconCenter(configuration)
        addClient()
        perform { [time] center in
            center.receive(.heard(SourceBatch(upTo: Timestamp(nanoseconds: Int64(time * 1e9)))))
            center.receive(.state(.poweredOn))
        }
        check()
    }

    private func perform(_ work: @Sendable (isolated BeaconCenter) -> Void) {
        center.queue.sync { center.assumeIsolated { work($0) } }
    }

    private var isHearing: Bool { radio == .poweredOn && status.isGranted }

    private mutating func addClient() {
        let client = Client(id: center.makeClientID(), log: EventLog())
        center.addClient(client.id, client.log.note)
        clients.append(client)
    }

    // MARK: - Events

    mutating func step() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<12: set(RadioState.allCases.randomElement(using: &random) ?? .poweredOn)
        case 12..<24: set(.poweredOn)
        case 24..<28:
            set(
                [AuthorizationStatus.always, .whenInUse, .denied, .notDetermined].randomElement(using: &random)
                    ?? .always)
        case 28..<34: set(.always)
        case 34..<60: hear(UInt16.random(in: 1...3, using: &random))
        case 60..<70: for _ in 0..<Int.random(in: 1...45, using: &random) { pass(1) }
        case 70..<80: pass(Double.random(in: 0.01...0.99, using: &random))
        case 80..<83: sleep(Double.random(in: 3...5000, using: &random))
        case 83..<89: startMonitoring()
        case 89..<91: stopMonitoring()
        case 91..<95: changeRanging()
        case 95..<97 where clients.count < 4:
            history.append("a client is added")
            addClient()
        case 97..<99 where clients.count > 1: removeClient()
        default: break
        }
        check()
    }

    private mutating func set(_ new: RadioState) {
        history.append("radio \(new)")
        radio = new
        perform { $0.receive(.state(new)) }
    }

    private mutating func set(_ new: AuthorizationStatus) {
        history.append("status \(new)")
        status = new
        perform { $0.setStatus(new) }
    }

    private mutating func hear(_ minor: UInt16) {
        history.append("hear \(minor)")
        let sighting = Sighting(
            time: Timestamp(nanoseconds: Int64(time * 1e9)), receiver: ReceiverID(0),
            address: DeviceAddress(bits: UInt64(minor), kind: .random),
            identity: BeaconIdentity(uuid: CenterBench.uuid, major: 1, minor: minor), measuredPower: -59,
            rssi: SignalStrength(rawValue: -60))
        perform { $0.receive(.heard(SourceBatch([sighting]))) }
        guard isHearing else { return }
        for region in Self.regions where region.constraint.matches(sighting.identity) {
            monitored[region.identifier]?.silence = 0
        }
    }

    private mutating func pass(_ seconds: Double) {
        history.append("+\((seconds * 100).rounded() / 100)")
        time += seconds
        let now = Timestamp(nanoseconds: Int64(time * 1e9))
        if isHearing { for name in monitored.keys { monitored[name]?.silence += seconds } }
        perform { $0.receive(.heard(SourceBatch(upTo: now))) }
        check()
    }

    private mutating func sleep(_ seconds: Double) {
        history.append("sleep \(seconds)")
        let (from, to) = (time, time + seconds)
        time = to
        perform { center in
            center.receive(
                .deaf(
                    from: Timestamp(nanoseconds: Int64(from * 1e9)), to: Timestamp(nanoseconds: Int64(to * 1e9)),
                    receiver: nil))
            center.receive(.heard(SourceBatch(upTo: Timestamp(nanoseconds: Int64(to * 1e9)))))
        }
        let reports = clients.flatMap { $0.log.peek() }.filter { $0.hasPrefix("ranged") }
        if reports.count > 2 * clients.count { faults.append("\(reports.count) reports of a sleep") }
    }

    private mutating func startMonitoring() {
        guard let region = Self.regions.randomElement(using: &random),
            let client = clients.randomElement(using: &random)
        else { return }
        history.append("monitor \(region.identifier)")
        if monitored[region.identifier] == nil { monitored[region.identifier] = Region() }
        perform { $0.startMonitoring(region, for: client.id) }
    }

    private mutating func stopMonitoring() {
        guard let region = Self.regions.randomElement(using: &random) else { return }
        history.append("stop \(region.identifier)")
        // Earlier events belong to the region in its previous form.
        check()
        perform { $0.stopMonitoring(region.identifier) }
        monitored[region.identifier] = nil
    }

    private mutating func changeRanging() {
        guard let place = clients.indices.randomElement(using: &random) else { return }
        let client = clients[place].id
        clients[place].isRanging.toggle()
        history.append(clients[place].isRanging ? "range" : "stop ranging")
        check(ranging: false)
        if clients[place].isRanging {
            clients[place].rangingSince = time
            perform { $0.startRanging(CenterBench.everyone, for: client) }
        } else {
            perform { $0.stopRanging(CenterBench.everyone, for: client) }
        }
    }

    private mutating func removeClient() {
        guard let place = clients.indices.randomElement(using: &random) else { return }
        history.append("a client is removed")
        let client = clients.remove(at: place)
        perform { $0.removeClient(client.id) }
        _ = client.log.take()
        removed.append(client.log)
    }

    // MARK: - Invariants

    private mutating func fault(_ sentence: String) { faults.append(sentence) }

    private mutating func check(ranging: Bool = true) {
        var changes: [[String: [String]]] = []
        for place in clients.indices {
            let client = clients[place]
            var own: [String: [String]] = [:]
            for word in client.log.take() {
                let parts = word.split(separator: " ").map(String.init)
                switch parts[0] {
                case "ranged" where ranging:
                    if !client.isRanging { fault("\(word) to a client that does not range") }
                    if (Double(parts[1]) ?? 0) < client.rangingSince { fault("\(word) is older than the request") }
                case "all", "one", "two": own[parts[0], default: []].append(parts[1])
                case "enter", "exit": own[parts[1], default: []].append(parts[0])
                default: break
                }
            }
            changes.append(own)
        }
        for log in removed where !log.take().isEmpty { fault("events to a client that was removed") }
        for region in Self.regions { check(region.identifier, changes.map { $0[region.identifier] ?? [] }) }
    }

    /// Checks the events of one region, by client.
    private mutating func check(_ name: String, _ changes: [[String]]) {
        guard let words = changes.max(by: { $0.count < $1.count }), !words.isEmpty else { return }
        guard var region = monitored[name] else { return fault("\(words) of \(name), which is stopped") }
        for (place, word) in words.enumerated() {
            let next = place + 1 < words.count ? words[place + 1] : nil
            switch word {
            case "inside":
                if (next == "enter") != (region.known == .outside) {
                    fault("\(name): \(words) where \(region.known) was known")
                }
                region.known = .inside
            case "outside":
                if (next == "exit") != (region.known == .inside) {
                    fault("\(name): \(words) where \(region.known) was known")
                }
                if region.known != .outside, region.silence < 30 - 1e-6 {
                    fault("\(name) is outside after \(region.silence) s of listening")
                }
                region.known = .outside
            case "enter", "exit", "unknown": break
            default: fault("\(word) of \(name)")
            }
        }
        monitored[name] = region
        // One client may have requested and received the state; all others have the same events.
        let others = changes.filter { $0 != words }
        if others.count == changes.count - 1, words.count == 1 { return }
        if !others.isEmpty { fault("\(name): \(changes)") }
    }

    mutating func finish() {
        guard faults.isEmpty else { return }
        set(.always)
        set(.poweredOn)
        check()
        for _ in 0..<3 {
            for minor in UInt16(1)...2 { hear(minor) }
            check()
            pass(1)
        }
        let snapshot = center.snapshot.regions
        if Set(snapshot.map(\.identifier)) != Set(monitored.keys) {
            fault("\(snapshot.map(\.identifier)) are monitored")
        }
        for region in snapshot where region.state != .inside { fault("\(region.identifier) is \(region.state)") }
        for (name, region) in monitored where region.known != .inside { fault("\(name) is known as \(region.known)") }
        compareWithStore()
        set(.poweredOff)
        pass(40)
        compareWithStore()
    }

    private mutating func compareWithStore() {
        let isWritten = DispatchSemaphore(value: 0)
        center.queue.sync {}
        center.performOnDisk { isWritten.signal() }
        isWritten.wait()
        let stored = Dictionary(uniqueKeysWithValues: store.load().map { ($0.identifier, $0.state) })
        let known = monitored.mapValues(\.known)
        if stored != known { fault("stored \(stored), known \(known)") }
    }
}
