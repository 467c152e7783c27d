import BeaconApplications
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import Dispatch
import Testing

/// One run: states of the radio, the duration of each, and the times of the clients' requests.
private struct Run: CustomStringConvertible {
    var states: [RadioState]
    /// The duration of each state.
    var seconds: Double
    /// For each client, the number of states before its requests.
    var asks: [Int]
    /// True if a beacon of the region is heard whenever the radio works.
    var isPresent: Bool
    /// True if the radio worked for a while before, near a beacon.
    var hasWorked: Bool

    var description: String {
        "\(states.map { "\($0)" }) of \(seconds) s, asked at \(asks), beacon \(isPresent), after work \(hasWorked)"
    }
}

/// A client's events, grouped by subject.
private struct Answers: Equatable {
    var radio: [String] = []
    var region: [String] = []
    var ranging: [String] = []
    var condition: [String] = []

    init() {}

    init(_ words: [String]) {
        for word in words {
            switch word.split(separator: " ").first {
            case "authorization": break
            case "radio": radio.append(word)
            case "ranged": ranging.append(word.split(separator: " ").prefix(2).joined(separator: " "))
            case "ranging": ranging.append(word)
            case "condition": condition.append(word.split(separator: " ").prefix(2).joined(separator: " "))
            default: region.append(word)
            }
        }
    }
}

/// The events that the rules require.
private struct CenterOracle {
    private struct Client {
        var answers = Answers()
        var hasAsked = false
        var knowsOfFailure = false
        var condition = OracleRegion(entersFromUnknown: false)
    }

    private var time = 1000.5
    private var radio = OracleRadio()
    private var region: OracleRegion?
    private var regionHasFailed = false
    private var clients: [Client]

    init(clients count: Int) { clients = Array(repeating: Client(), count: count) }

    var answers: [Answers] { clients.map(\.answers) }

    mutating func set(_ state: RadioState) {
        guard state != radio.state else { return }
        let wasHearing = radio.isHearing
        radio.set(state)
        for index in clients.indices { clients[index].answers.radio.append("radio \(state)") }
        if radio.isHearing, !wasHearing {
            region?.resume()
            for index in clients.indices { clients[index].condition.resume() }
        }
        update()
    }

    mutating func ask(_ index: Int) {
        clients[index].hasAsked = true
        clients[index].answers.region.append(radio.isHopeless ? "failed hall radioUnavailable" : "started hall")
        if let region {
            if !radio.isHopeless, region.published != .unknown {
                clients[index].answers.region.append("hall \(region.published)")
            }
        } else {
            region = OracleRegion(entersFromUnknown: false)
            regionHasFailed = radio.isHopeless
        }
        update()
    }

    mutating func pass(_ seconds: Double, isHeard: Bool) {
        let end = time + seconds
        if radio.isHearing {
            var second = time.rounded(.up)
            while second <= end {
                for index in clients.indices where clients[index].hasAsked {
                    clients[index].answers.ranging.append("ranged \(second)")
                }
                second += 1
            }
            // An advert exactly at a deadline is in time.
            report(isHeard ? region?.hear() : region?.listen(seconds))
            for index in clients.indices where clients[index].hasAsked {
                let change = isHeard ? clients[index].condition.hear() : clients[index].condition.listen(seconds)
                report(change, to: index)
            }
        }
        time = end
        radio.pass(seconds)
        update()
    }

    private mutating func update() {
        if radio.isLasting {
            for index in clients.indices where clients[index].hasAsked {
                if !clients[index].knowsOfFailure {
                    clients[index].answers.ranging.append("ranging failed radioUnavailable")
                }
                clients[index].knowsOfFailure = true
                report(clients[index].condition.lose(), to: index)
            }
        } else {
            for index in clients.indices { clients[index].knowsOfFailure = false }
        }
        if region != nil, regionHasFailed != radio.isHopeless {
            regionHasFailed = radio.isHopeless
            for index in clients.indices {
                clients[index].answers.region.append(
                    regionHasFailed ? "failed hall radioUnavailable" : "started hall")
            }
        }
        if radio.isLasting { report(region?.lose()) }
    }

    private mutating func report(_ change: OracleRegion.Change?) {
        guard let change else { return }
        let words =
            switch change {
            case .state(let state): ["hall \(state)"]
            case .enter: ["hall inside", "enter hall"]
            case .exit: ["hall outside", "exit hall"]
            }
        for index in clients.indices { clients[index].answers.region += words }
    }

    private mutating func report(_ change: OracleRegion.Change?, to client: Int) {
        let word: String? =
            switch change {
            case .state(let state): "condition \(state)"
            case .enter: "condition inside"
            case .exit: "condition outside"
            case nil: nil
            }
        if let word { clients[client].answers.condition.append(word) }
    }
}

/// A center that performs the same steps.
private final class CenterSubject: Sendable {
    private let center: BeaconCenter
    private let clients: [(id: ClientID, log: EventLog)]
    private let time = Locked(1000.5)

    init(clients count: Int) {
        var configuration = CenterConfiguration(application: ApplicationIdentity("test"), store: MemoryRegionStore())
        configuration.initialStatus = .always
        let center = BeaconCenter(configuration)
        self.center = center
        clients = (0..<count).map { _ in (center.makeClientID(), EventLog()) }
        for (id, log) in clients { center.addClient(id, log.note) }
        receive(.heard(SourceBatch(upTo: Timestamp(nanoseconds: 1_000_500_000_000))))
    }

    var answers: [Answers] { clients.map { Answers($0.log.take()) } }

    private func perform(_ work: @Sendable (isolated BeaconCenter) -> Void) {
        center.queue.sync { center.assumeIsolated { work($0) } }
    }

    private func receive(_ event: SourceEvent) { perform { $0.receive(event) } }

    func set(_ state: RadioState) { receive(.state(state)) }

    func ask(_ index: Int) {
        let client = clients[index].id
        perform { center in
            center.startMonitoring(
                RegisteredRegion(identifier: "hall", constraint: CenterBench.everyone), for: client)
            center.startRanging(CenterBench.everyone, for: client)
            center.startMonitoring(center.makeConditionID(), CenterBench.everyone, client: client)
        }
    }

    func pass(_ seconds: Double, isHeard: Bool) {
        let now = time.withLock { time in
            time += seconds
            return Timestamp(nanoseconds: Int64(time * 1e9))
        }
        if isHeard {
            receive(
                .heard(
                    SourceBatch([
                        Sighting(
                            time: now, receiver: ReceiverID(0), address: DeviceAddress(bits: 1, kind: .random),
                            identity: BeaconIdentity(uuid: CenterBench.uuid, major: 1, minor: 1), measuredPower: -59,
                            rssi: SignalStrength(rawValue: -60))
                    ])))
        }
        receive(.heard(SourceBatch(upTo: now)))
    }
}

@Suite("A center in each sequence of radio states")
struct CenterMatrixTests {
    /// Runs both side by side.
    private func answers(_ run: Run) -> (center: [Answers], oracle: [Answers]) {
        let subject = CenterSubject(clients: run.asks.count)
        var oracle = CenterOracle(clients: run.asks.count)
        var state = RadioState.unknown

        func set(_ new: RadioState) {
            state = new
            subject.set(new)
            oracle.set(new)
        }
        func pass(_ seconds: Double, isPresent: Bool) {
            var rest = seconds
            while rest > 0 {
                let step = min(rest, 5)
                let isHeard = isPresent && state == .poweredOn
                subject.pass(step, isHeard: isHeard)
                oracle.pass(step, isHeard: isHeard)
                rest -= step
            }
        }
        func ask(_ passed: Int) {
            for (client, count) in run.asks.enumerated() where count == passed {
                subject.ask(client)
                oracle.ask(client)
            }
        }

        if run.hasWorked { set(.poweredOn) }
        ask(0)
        if run.hasWorked { pass(3, isPresent: true) }
        for (number, state) in run.states.enumerated() {
            set(state)
            pass(run.seconds, isPresent: run.isPresent)
            ask(number + 1)
        }
        pass(2, isPresent: run.isPresent)
        set(.poweredOn)
        pass(40, isPresent: run.isPresent)
        pass(2, isPresent: true)
        return (subject.answers, oracle.answers)
    }

    @Test(
        "Each client receives exactly the events that the rules require, at any time of its requests (R12, G14, G19)",
        arguments: RadioState.allCases, [1.0, 7, 40])
    func matrix(first: RadioState, seconds: Double) throws {
        var runs = 0
        for states in sequencesOfStates where states.first == first {
            let counts = Array(0...states.count)
            for asks in counts.map({ [$0] }) + [counts] {
                for (isPresent, hasWorked) in [(true, true), (false, true), (true, false), (false, false)] {
                    let run = Run(
                        states: states, seconds: seconds, asks: asks, isPresent: isPresent, hasWorked: hasWorked)
                    let (center, oracle) = answers(run)
                    runs += 1
                    for (center, oracle) in zip(center, oracle) where center != oracle {
                        Issue.record("\(run):\ncenter \(center)\noracle \(oracle)")
                        return
                    }
                }
            }
        }
        #expect(runs == 4 * (3 + 6 * 4 + 36 * 5))
    }
}
