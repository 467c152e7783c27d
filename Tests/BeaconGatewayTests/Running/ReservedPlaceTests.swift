import BeaconBroker
import BeaconDelivery
import BeaconEngine
import BeaconFleet
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconReceivers
import BeaconSupport
import GatewayTestSupport
import TestSupport
import Testing

@testable import BeaconGateway

@Suite("Named receivers and beacons in the tables of a gateway")
struct ReservedPlaceTests {
    @Test("After two sources with 200 invented receivers each, the outage of a named receiver causes no exit")
    func receivers() async throws {
        let bench = try GatewayBench(keepsPresence: false)
        let names = ["a", "b", "c"]
        let runners = names.map { _ in ScriptedRunner() }
        let sources = names.map { SourceSettings(name: $0, specification: .network(BrokerSource(MQTTSettings()))) }
        let gateway = bench.gateway(sources, runners: Dictionary(uniqueKeysWithValues: zip(names, runners)))
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await gateway.run() }
            await ScriptedRadios.onThread {
                for runner in runners {
                    runner.channel.send(.opened)
                    runner.channel.send(.state(.poweredOn))
                }
                for second in 1000...1080 {
                    for (number, runner) in runners.enumerated() {
                        let isKitchen = number == 2
                        var batch = ScriptedRadios.batch(
                            hearing: isKitchen && second == 1001 ? [1001] : [], until: Double(second))
                        batch.receiverNames = isKitchen ? ["kitchen"] : (0..<200).map { "\(number)/\($0)" }
                        let state: RadioState = isKitchen && second > 1005 ? .poweredOff : .poweredOn
                        batch.receiverStatuses = batch.receiverNames.map { _ in ReceiverStatus(state) }
                        runner.channel.send(.heard(batch))
                        runner.channel.send(.heard(SourceBatch()))
                    }
                }
            }
            await gateway.stop()
            await ScriptedRadios.onThread {
                for runner in runners {
                    runner.channel.send(.ended)
                    runner.channel.finish()
                }
            }
        }
        #expect(bench.notified == ["enter hall 1001.0 kitchen"])
    }

    @Test("The place of a named beacon is kept, however many invented beacons have places")
    func beacons() throws {
        let bench = try GatewayBench(keepsPresence: false)
        var configuration = bench.configuration([])
        let named = BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: 9, minor: 9)
        configuration.beacons = [BeaconSettings(name: "keys", identity: named)]
        var reporter = EventReporter(
            configuration, destinations: [], rules: nil, isShown: true, isInFleet: false, isDryRun: true,
            logger: bench.lines.logger)
        let most = EngineConfiguration.defaultMaximumTrackedBeacons
        for number in 0...most {
            // The named beacon comes last.
            let invented = BeaconIdentity(
                uuid: ProximityUUID(high: 1, low: UInt64(number)), major: 1, minor: UInt16(truncatingIfNeeded: number))
            var outcome = EventReporter.Outcome()
            reporter.report(
                PlaceEvent(
                    time: Timestamp(nanoseconds: Int64(number)), identity: number == most ? named : invented,
                    state: .inside, place: "hall", before: nil), to: &outcome)
        }
        #expect(reporter.places.count == most + 1 && reporter.places[named] == "hall")
        #expect(reporter.view.whereabouts[named]?.place == "hall")
    }

    @Test("The places of named beacons are kept in a partition, after as many invented ones as there is room for")
    func partition() {
        let owner = PartitionOwner(partition: 0, epoch: 1, value: [], validUntil: .zero)
        func beacon(_ number: Int) -> BeaconConstraint {
            BeaconConstraint(
                BeaconIdentity(
                    uuid: ProximityUUID(high: 1, low: UInt64(number)), major: 1,
                    minor: UInt16(truncatingIfNeeded: number)))
        }
        let most = EngineConfiguration.defaultMaximumTrackedBeacons
        owner.named = [beacon(most + 1)]
        for number in 0...(most + 1) {
            guard let identity = beacon(number).identity else { return }
            let change = FleetTransition.Place(
                PlaceEvent(time: .zero, identity: identity, state: .inside, place: "hall", before: nil))
            owner.note(
                FleetTransition(
                    partition: 0, epoch: 1, number: UInt64(number), worker: "a", configuration: 1, time: 1,
                    content: .place(change)), at: UInt64(number) + 1)
        }
        #expect(owner.places.count == most + 1 && owner.places[beacon(most)] == nil)
        #expect(owner.places[beacon(most + 1)]?.place == "hall")
    }

    @Test("A rule with a span runs once for a named beacon, whatever invented beacons come between")
    func firings() {
        var rule = Rule(name: "once", target: nil)
        rule.span = .seconds(86_400)
        var one = ActiveRule(rule)
        var ids = EventIDs()
        func runs(_ number: Int) -> Bool {
            let time = Timestamp(nanoseconds: Int64(number))
            var notification = BeaconNotification(id: ids.next(at: time), kind: .enter, time: time)
            notification.beacon = BeaconIdentity(
                uuid: GatewayBench.constraint.uuid, major: UInt16(number >> 8), minor: UInt16(number & 255))
            let occurrence = RuleOccurrence(event: .enter, time: time, notification: notification)
            return one.decide(
                occurrence, named: [BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: 0, minor: 0)], ids: &ids
            ).ran
        }
        #expect(runs(0) && runs(1) && !runs(0))
        for number in 2..<12_000 { #expect(runs(number)) }
        #expect(!runs(0) && runs(1) && one.firings.count <= 10_000)
    }

    @Test("The configuration names the receivers of its sources, places and positions")
    func names() throws {
        let bench = try GatewayBench(keepsPresence: false)
        var network = BrokerSource(MQTTSettings())
        network.network.names = ["C8": "cellar"]
        var radio = SourceSettings(name: "radio", specification: .auto)
        radio.receiver = "door"
        var configuration = bench.configuration([
            SourceSettings(name: "house", specification: .network(network)), radio,
        ])
        configuration.suspicions = SuspicionSettings()
        configuration.suspicions?.positions = ["tower": ReceiverPosition(x: 0, y: 0)]
        #expect(configuration.namedReceivers == ["cellar", "door", "tower"])
    }
}
