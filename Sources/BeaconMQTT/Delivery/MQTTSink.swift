public import BeaconDelivery
import BeaconModel
public import BeaconService
import Foundation
public import Logging

/// A broker as a destination.
///
/// Notifications go to it in order and are delivered once it acknowledged them. Beside that it retains the state of regions
/// and of named beacons, which Home Assistant may find as devices. The topics are in docs/mqtt.md.
public final class MQTTSink: Sink {
    private let client: MQTTClient
    private let topics: TopicTree
    private let state: StatePublisher

    /// A broker that is not connected to yet.
    ///
    /// - Parameters:
    ///   - options: which broker, and as whom.
    ///   - regions: the names of the monitored regions whose state is retained.
    ///   - beacons: those that have a name. For the presence of one a region of exactly its identity has to be monitored,
    ///     for its distance it has to be ranged.
    ///   - homeAssistant: whether the beacons become devices of Home Assistant.
    ///   - state: how much has to change for a distance to be published.
    ///   - logger: where it tells of its connection.
    /// - Throws: ``MQTTError/Code/invalidOptions`` with all that is wrong.
    public init(
        _ options: MQTTOptions, regions: [String] = [], beacons: [NamedBeacon] = [],
        homeAssistant: HomeAssistantOptions = HomeAssistantOptions(isEnabled: false),
        state: MQTTStateOptions = MQTTStateOptions(), logger: Logger = Logger(label: "beacon.mqtt")
    ) throws(MQTTError) {
        let mistakes =
            options.mistakes() + homeAssistant.mistakes() + Self.repeated("region", regions)
            + Self.repeated("beacon", beacons.map(\.name))
            + Self.repeated("beacon's identity", beacons.map(\.identity.description))
        guard mistakes.isEmpty else {
            throw MQTTError(.invalidOptions, "The options for MQTT: \(mistakes.joined(separator: "; ")).")
        }
        client = try MQTTClient(options, logger: logger)
        topics = TopicTree(base: options.baseTopic)
        let board = RetainedBoard(
            regions: regions, beacons: beacons, topics: topics,
            discovery: Discovery(homeAssistant, broker: options, topics: topics), options: state)
        self.state = StatePublisher(board, client: client, homeAssistant: homeAssistant, logger: logger)
    }

    private static func repeated(_ what: String, _ names: [String]) -> [String] {
        var seen: Set<String> = []
        return names.filter { !seen.insert($0).inserted }.map { "the \(what) \($0) is there twice; keep one" }
    }

    /// Takes in what a session says, for the retained state. It waits for nothing, and may be called from anywhere, in the
    /// order of the events.
    public func receive(_ event: SessionEvent) { state.receive(event) }

    /// Several times as many as may be unacknowledged at a time, so that one goes out for each that is acknowledged.
    public var maximumBatch: Int { client.options.maximumInFlight * 5 }

    /// Publishes notifications, and waits for their acknowledgement.
    public func deliver(_ batch: [OutboxEntry]) async -> [DeliveryOutcome] {
        var messages: [MQTTMessage] = []
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for entry in batch {
            guard let payload = try? encoder.encode(entry.notification) else { break }
            messages.append(
                MQTTMessage(
                    topic: topics.event(entry.notification), payload: Array(payload),
                    qualityOfService: client.options.qualityOfService, id: entry.notification.id.description))
        }
        guard !messages.isEmpty || batch.isEmpty else {
            return [.refused(reason: "the notification cannot be written as JSON")]
        }
        var outcomes: [DeliveryOutcome] = []
        for result in await client.publish(messages) {
            let outcome = DeliveryOutcome(result)
            outcomes.append(outcome)
            // Those behind go again, after it, even where they were taken: order is worth a duplicate.
            if case .retry = outcome { break }
        }
        return outcomes
    }

    /// Keeps the connection up, and what is retained as it should be, until its task is cancelled.
    public func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.client.run() }
            group.addTask { await self.state.run() }
        }
    }
}
