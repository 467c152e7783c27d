import BeaconFleet
import BeaconModel
import BeaconNATS
import BeaconSupport
import Foundation
import GatewayTestSupport
import TestSupport
import Testing

@testable import BeaconGateway

@Suite("Configurations: the fleet")
struct FleetSettingsTests {
    private static func configuration(_ fleet: String) -> GatewayConfiguration {
        ConfigurationBench.check("sources: [hci]\nfleet: \(fleet)", ["PASSWORD": "secret"]).configuration
    }

    @Test("A bare address has the default settings, and the machine needs no regions")
    func address() throws {
        let settings = try #require(Self.configuration("nats://hub").fleet)
        #expect(settings.title == "hub" || settings.title == "hub:4222")
        #expect(settings.name == "beacons" && settings.partitions == 16 && settings.replicas == 3)
        #expect(settings.works && settings.delivers && !settings.node.isEmpty && settings.mistakes().isEmpty)
        #expect(Self.configuration("local").fleet?.transport == .local)
        #expect(ConfigurationBench.lines("sources: [hci]\nfleet: nats://hub").isEmpty)
    }

    @Test("A mapping has all settings, and an address on the command line keeps the credentials")
    func mapping() throws {
        var configuration = Self.configuration(
            "{ servers: \"nats://a:1,b:2\", name: museum, node: hall, partitions: 3, replicas: 1, works: false, delivers: false, user: u, password: { env: PASSWORD } }"
        )
        let settings = try #require(configuration.fleet)
        #expect(settings.name == "museum" && settings.node == "hall" && settings.partitions == 3)
        #expect(settings.replicas == 1 && !settings.works && !settings.delivers)
        configuration.join("nats://c")
        guard case .nats(let options)? = configuration.fleet?.transport else {
            Issue.record("it is not NATS")
            return
        }
        #expect(options.user == "u" && options.password?.reveal() == "secret" && options.servers.count == 1)
        #expect(configuration.fleet?.node == "hall")
    }

    @Test(
        "Each mistake is reported with a remedy",
        arguments: [
            ("http://hub", "write nats://HOST"), ("7", "write nats://HOST"), ("{ name: x }", "\"servers\" is missing"),
            ("{ servers: nats://hub, name: a.b }", "letters of English, digits"),
            ("{ servers: nats://hub, node: \"\" }", "no other machine has"),
            ("{ servers: nats://hub, partitions: 0 }", "\"partitions\""),
            ("{ servers: nats://hub, password: secret }", "is in plain text here"),
            ("{ servers: nats://hub, server: x }", "was \"servers\" meant?"),
        ])
    func mistakes(fleet: String, message: String) {
        let lines = ConfigurationBench.lines("sources: [hci]\nfleet: \(fleet)")
        #expect(lines.contains { $0.contains(message) }, "\(lines)")
    }
}

/// The generated accounts on a server that enforces them.
@Suite("Fleets: accounts", .fewAtATime)
struct AccountFileTests {
    private struct NoAudience: FleetAudience {
        func follow(_ configuration: GatewayConfiguration, _ partitions: FleetPartitions) {}
        func restore(_ state: FleetRegionState) {}
        func restore(_ state: FleetPlaceState) {}
        func restored() {}
        func show(_ transition: FleetTransition) {}
        func knows(_ transition: FleetTransition) -> Bool { false }
        func known(_ label: String) -> FleetRegionState? { nil }
        func knownPlaces() -> [FleetPlaceState] { [] }
        func stored(_ key: GatewayState.Key) -> [UInt8]? { nil }
        func save(_ value: [UInt8], for key: GatewayState.Key) {}
        func keep(_ missed: [FleetTransition]) {}
        func canDeliver() -> Bool { true }
        func deliver(_ transition: FleetTransition) -> Bool { true }
        func ownReceivers() -> [FleetMemberValue.Receiver] { [] }
    }

    private static func member(
        _ user: AccountFile.User, of cluster: NATSCluster, works: Bool, _ lines: LogLines
    ) throws -> (FleetMember, NATSExchange) {
        let address = cluster.url.replacing(
            "nats://", with: "nats://\(user.name.replacing(" ", with: "%20")):\(user.password)@")
        var settings = try FleetSettings(address)
        (settings.name, settings.node, settings.works) = ("museum", user.name, works)
        settings.delivers = works
        settings.partitions = 2
        guard case .nats(let options) = settings.transport else { throw Failure("it is not NATS") }
        let exchange = NATSExchange(options, name: settings.name)
        let member = FleetMember(
            settings, exchange: exchange,
            configuration: GatewayConfiguration(outbox: OutboxSettings(path: "/nonexistent/x")),
            items: [], audience: NoAudience(), logger: lines.logger)
        return (member, exchange)
    }

    @Test("A fleet's machine names the connections and teachings of its console that it does not use")
    func ofConsole() throws {
        var configuration = GatewayConfiguration(outbox: OutboxSettings(path: "/nonexistent/x"))
        configuration.fleet = try FleetSettings("nats://hub")
        let items = [ConfigurationItem.Kind.source, .destination, .taught].map {
            ConfigurationItem(kind: $0, name: "a", settings: [:], origin: .console, order: 0)
        }
        let whole = configuration.adding(items)
        #expect(whole.sources.isEmpty && whole.destinations.isEmpty && whole.items.count == 3)
        #expect(whole.items.allSatisfy { $0.fault == "a machine of a fleet uses its file's only; write it there" })
    }

    @Test("A worker can do all of its work, and a receiver can only hear")
    func accounts() async throws {
        let file = AccountFile(receivers: ["the hall"], workers: ["hub"])
        let cluster = try await NATSCluster(servers: 1, file.nats(fleet: "museum"))
        let (workerLines, receiverLines) = (LogLines(), LogLines())
        let (worker, workerExchange) = try Self.member(file.workers[0], of: cluster, works: true, workerLines)
        let (receiver, receiverExchange) = try Self.member(file.receivers[0], of: cluster, works: false, receiverLines)
        defer {
            workerExchange.close()
            receiverExchange.close()
        }
        try await worker.open()
        try await eventually("the worker owns both partitions") {
            await worker.step()
            await worker.renewAll()
            await worker.maintain()
            return await worker.workedPartitions.count == 2
        }
        try await receiver.open()
        try await eventually("the receiver follows, and is announced") {
            await receiver.step()
            await receiver.renewAll()
            await receiver.maintain()
            let names = await worker.overview().members.map(\.node)
            return await receiver.partitions?.count == 2 && names.contains("the hall")
        }
        // As "beacond fleet status" sees it.
        let (viewer, viewerExchange) = try Self.member(file.workers[0], of: cluster, works: true, LogLines())
        defer { viewerExchange.close() }
        try await viewer.open()
        try await eventually("the command sees both owners") {
            await viewer.step()
            return await viewer.overview().owners == ["hub", "hub"]
        }
        #expect(workerLines.all.allSatisfy { !$0.hasPrefix("warning") && !$0.hasPrefix("error") }, "\(workerLines.all)")
        #expect(
            receiverLines.all.allSatisfy { !$0.hasPrefix("warning") && !$0.hasPrefix("error") }, "\(receiverLines.all)")
        // Each machine says once what the server's version means.
        for lines in [workerLines, receiverLines] {
            #expect(lines.all.count { $0.hasPrefix("notice: the NATS server") && $0.contains("sync_interval") } == 1)
        }
        try receiverExchange.publish([1], to: 0, from: FleetRelay(node: "the hall", source: 2))
        // It must not write anything that belongs to other members.
        for key in [FleetKey.configuration, .region("region x"), .partition(0), .delivery, .member("hub")] {
            await #expect(throws: FleetError.self) { try await receiverExchange.put([1], for: key, replacing: nil) }
        }
        await #expect(throws: FleetError.self) {
            try await receiverExchange.append([1], to: 0, id: "x", after: 0)
        }
        let owner = try #require(await worker.exchange.entry(.partition(0)))
        #expect(!owner.value.isEmpty && owner.value != [1])
    }

    @Test("Names stay names in both files, whatever they contain")
    func names() {
        let hostile = "x\"]}} \n# $JS.> +/#"
        let file = AccountFile(receivers: [hostile], workers: [])
        let nats = file.nats(fleet: "museum")
        #expect(!nats.contains("\"x\"]"))
        // It is the user's name, not a subject.
        let lines = nats.split(separator: "\n").filter { $0.contains("$JS.>") }
        #expect(lines.count == 1 && lines.allSatisfy { $0.contains("{user: ") })
        #expect(nats.contains("beacons.museum.heard.*.") && !nats.contains("heard.*.x\""))
        let list = file.mosquitto(prefix: "home")
        #expect(list.split(separator: "\n").filter { $0.hasPrefix("topic ") }.count == 3)
        #expect(
            list.contains("topic write home/beacon-relay/") && !list.contains("topic write home/beacon-relay/x\"]}} \n")
        )
    }
}
