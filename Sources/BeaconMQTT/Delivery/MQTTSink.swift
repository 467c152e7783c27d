public import BeaconDelivery
import BeaconEventStore
public import BeaconModel
import Foundation
public import Logging

/// A sink that publishes notifications to a broker, with the retained state of regions and beacons.
///
/// Notifications are published in order and count as delivered once the broker has acknowledged them. The states of
/// regions and of named beacons are retained, and Home Assistant can discover both as devices. docs/mqtt.md lists the
/// topics.
public final class MQTTSink: Sink {
    /// The time that a restart of the gateway may take before it counts as offline.
    static let restartTime = Duration.seconds(60)

    private let client: MQTTClient
    private let homeAssistant: HomeAssistantSettings
    private let topics: TopicTree
    private let state: StatePublisher

    /// Creates a sink, which connects once ``run()`` is called.
    ///
    /// - Parameters:
    ///   - options: the broker, the client and the topics.
    ///   - regions: the monitored regions whose state is retained.
    ///   - beacons: the named beacons. A beacon's presence requires a monitored region of exactly its identity; its
    ///     distance requires that it is ranged.
    ///   - places: the places that beacons are located in.
    ///   - homeAssistant: the settings of Home Assistant's discovery.
    ///   - awaitsRestoredStates: true to wait for the states of an earlier run. The gateway is not announced as online
    ///     before the call of ``restored()``.
    ///   - logger: a logger for the connection.
    /// - Throws: ``MQTTError`` with the code ``MQTTError/Code/invalidSettings``, which lists all mistakes.
    public init(
        _ options: MQTTSettings, regions: [NamedRegion] = [], beacons: [NamedBeacon] = [], places: [NamedPlace] = [],
        homeAssistant: HomeAssistantSettings = HomeAssistantSettings(isEnabled: false),
        awaitsRestoredStates: Bool = false, logger: Logger = Logger(label: "beacon.mqtt")
    ) throws(MQTTError) {
        let mistakes =
            options.mistakes() + homeAssistant.mistakes() + Self.repeated("region", regions.map(\.name))
            + Self.repeated("beacon", beacons.map(\.name)) + Self.repeated("place", places.map(\.name))
            + Self.repeated("beacon's identity", beacons.map(\.identity.description))
        guard mistakes.isEmpty else {
            throw MQTTError(.invalidSettings, "The settings for MQTT: \(mistakes.joined(separator: "; ")).")
        }
        // The state publisher announces the gateway as online after it has published the states.
        var options = options
        options.restartTime = Self.restartTime
        client = try MQTTClient(options, logger: logger)
        topics = TopicTree(base: options.baseTopic)
        self.homeAssistant = homeAssistant
        let store = RetainedMessageStore(
            regions: regions, beacons: beacons, topics: topics,
            discovery: Discovery(homeAssistant, broker: options, topics: topics, places: places),
            isReady: !awaitsRestoredStates)
        self.state = StatePublisher(store, client: client, homeAssistant: homeAssistant, logger: logger)
    }

    private static func repeated(_ what: String, _ names: [String]) -> [String] {
        var seen: Set<String> = []
        return names.filter { !seen.insert($0).inserted }.map { "the \(what) \($0) occurs twice; remove one" }
    }

    /// Replaces the regions, beacons and places, and deletes the retained messages of removed ones. Renamed regions and
    /// places keep their states. A beacon keeps its state by its identity. The call does not wait.
    ///
    /// - Parameters:
    ///   - regions: the monitored regions.
    ///   - beacons: the named beacons.
    ///   - places: the places that beacons are located in.
    ///   - renamed: the new names of regions and places.
    public func configure(
        regions: [NamedRegion], beacons: [NamedBeacon], places: [NamedPlace], renamed: RenamedItems = RenamedItems()
    ) {
        state.configure(
            regions: regions, beacons: beacons,
            discovery: Discovery(homeAssistant, broker: client.options, topics: topics, places: places),
            renamed: renamed)
    }

    /// Processes an event of monitoring or ranging, for the retained state. The call does not wait. Any thread may call
    /// it, in the order of the events.
    ///
    /// The presence of a named beacon is an event of a region of only this beacon, with `isPresence` (`RegionEvent`).
    public func receive(_ event: BeaconEvent) { state.receive(event) }

    /// Processes diagnostics of the gateway itself, for its device in Home Assistant. The call does not wait. Changes
    /// of numbers are published at most once a minute.
    public func receive(_ diagnostics: GatewayDiagnostics) { state.receive(diagnostics) }

    /// Ends the restoration of states, which arrive as events. All other states are unknown.
    public func restored() { state.restored() }

    /// Five times the maximum number of unacknowledged messages, so that each acknowledgement allows the next message
    /// to be sent.
    public var maximumBatch: Int { client.options.maximumInFlight * 5 }

    /// Publishes notifications, waits for their acknowledgements, and returns their outcomes.
    public func deliver(_ batch: [QueuedNotification]) async -> [DeliveryOutcome] {
        let messages = batch.map { entry in
            MQTTMessage(
                topic: topics.event(entry.event), payload: Array(entry.event.json),
                qualityOfService: client.options.qualityOfService, id: entry.event.id.description)
        }
        var outcomes: [DeliveryOutcome] = []
        for result in await client.publish(messages) {
            let outcome = DeliveryOutcome(result)
            outcomes.append(outcome)
            // Later messages are sent again after this one, even if the broker has them: the order is worth a
            // duplicate.
            if case .retry = outcome { break }
        }
        return outcomes
    }

    /// Maintains the connection and the retained state until its task is canceled.
    ///
    /// - Parameter onConnection: called each time that the broker has accepted a connection.
    public func run(onConnection: @escaping @Sendable () -> Void) async {
        let events = client.events()
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await case .connected in events { onConnection() }
            }
            group.addTask { await self.client.run() }
            group.addTask { await self.state.run() }
        }
    }
}

/// The regions and places that have new names but the same beacons and receivers.
public struct RenamedItems: Hashable, Sendable {
    /// The new names of regions, by the old ones.
    public var regions: [String: String]

    /// The new names of places, by the old ones.
    public var places: [String: String]

    /// Creates a list of new names by old ones, by default an empty one.
    ///
    /// - Parameters:
    ///   - regions: the new names of regions.
    ///   - places: the new names of places.
    public init(regions: [String: String] = [:], places: [String: String] = [:]) {
        (self.regions, self.places) = (regions, places)
    }
}

extension DeliveryOutcome {
    /// Converts the result of publishing a message to an outcome.
    init(_ result: Result<Void, MQTTError>) {
        switch result {
        case .success:
            self = .delivered
        case .failure(let error) where error.code == .invalidMessage || error.code == .breaksConnection:
            self = .refused(reason: error.description)
        case .failure(let error):
            switch error.reason {
            // These concern the message. A missing permission concerns the broker's configuration, which an operator
            // may correct before any notification is lost.
            case .topicNameInvalid where error.code == .messageRefused,
                .payloadFormatInvalid where error.code == .messageRefused,
                .packetTooLarge where error.code == .messageRefused:
                self = .refused(reason: error.description)
            default:
                self = .retry(reason: error.description)
            }
        }
    }
}
