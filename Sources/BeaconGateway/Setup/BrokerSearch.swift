import BeaconBroker
import BeaconModel
import BeaconMonitoring
import BeaconRadio
package import BeaconReceivers
import BeaconSupport
import Foundation
import Logging

/// A search for receivers at a broker. It decides from messages and times alone; ``GuidedStart/search(_:for:until:)``
/// connects it.
struct BrokerSearch {
    /// What happens at the connection.
    enum Input: Sendable {
        case event(MQTTEvent)
        /// The broker refuses to send the messages of a filter.
        case refused(String)
    }

    /// How long to wait for the broker's first answer, in nanoseconds: a little longer than a connection takes.
    private static let connectionTime = 12 * Timestamp.nanosecondsPerSecond
    /// How long to wait for a first receiver, in nanoseconds.
    private static let receiverTime = 30 * Timestamp.nanosecondsPerSecond
    /// The most gateways to remember.
    private static let maximumGateways = 200

    /// The topics that it listens to.
    let filters: [String]
    /// The topic of the message that proves that this user may read. It is this search's own.
    let probe: String
    private let options: MQTTSettings
    private var network: ReceiverNetwork
    private var batch = AdvertBatch()
    private var adverts = FoundAdverts()
    private let began: Timestamp
    private var listeningSince: Timestamp?
    private var isConnected = false
    private var fault: GuidedStart.Draft.Fault?
    private var refused: [String] = []
    private var hasProbe = false
    private var gateways: Set<String> = []
    /// True once the search cannot find anything.
    private(set) var isOver = false

    init(_ source: BrokerSource, at time: Timestamp) {
        options = source.options
        filters = source.filters ?? BrokerSource.defaultFilters
        probe = "beacond-setup/" + source.options.clientID
        var settings = source.network
        // The wizard shows the receivers' own names, to choose others.
        settings.names = [:]
        network = ReceiverNetwork(settings)
        began = time
    }

    /// Notes what happened at the connection.
    mutating func receive(_ input: Input, at time: Timestamp) {
        switch input {
        case .refused(let filter): if !refused.contains(filter) { refused.append(filter) }
        case .event(.connected):
            (isConnected, fault) = (true, nil)
            refused = []
            listeningSince = listeningSince ?? time
            network.connect(at: time)
        case .event(.disconnected(let error)):
            isConnected = false
            network.disconnect()
            fault = fault(of: error)
            // Another address or password is needed, or the user starts the broker and tries again.
            isOver = listeningSince == nil
        case .event(.message(let message)): receive(message, at: time)
        case .event(.messageTooLong): break
        }
    }

    private mutating func receive(_ message: MQTTMessage, at time: Timestamp) {
        guard message.topic != probe else {
            hasProbe = true
            return
        }
        let levels = message.topic.split(separator: "/", omittingEmptySubsequences: false)
        // OpenMQTTGateways send these even if they hear no device.
        if levels.count > 1, ["LWT", "SYStoMQTT", "BTtoMQTT"].contains(levels[levels.count - 1]),
            gateways.count < Self.maximumGateways, levels.first != "tele"
        {
            gateways.insert(levels.dropLast().joined(separator: "/"))
        }
        let before = network.receivers.map(\.adverts)
        network.receive(
            topic: message.topic.utf8.span.bytes, payload: message.payload.span.bytes,
            isRetained: message.isRetained, at: time, into: &batch)
        for (place, receiver) in network.receivers.enumerated() {
            let count = receiver.adverts - (place < before.count ? before[place] : 0)
            if count > 0 || place >= before.count { adverts.note(max(count, 0), of: network.key(of: place), at: time) }
        }
        for sighting in batch.sightings where Int(sighting.receiver.index) < network.receivers.count {
            adverts.note(sighting, of: network.key(of: Int(sighting.receiver.index)), at: time)
        }
        batch.begin()
        _ = batch.drainEvents()
    }

    /// Returns what was found so far.
    mutating func found(at time: Timestamp) -> GuidedStart.Found {
        network.advance(to: time, into: &batch)
        batch.begin()
        _ = batch.drainEvents()
        var found = GuidedStart.Found()
        if listeningSince == nil, fault == nil, time.since(began) > Self.connectionTime {
            fault = .init(key: "broker.host", detail: silence)
            isOver = true
        }
        found.state = isOver ? .failed : isConnected ? .listening : .connecting
        found.faults = [fault].compactMap(\.self)
        found.topics = filters
        found.gateways = gateways.sorted()
        found.receivers = network.receivers.indices.map { place in
            let receiver = network.receivers[place]
            let key = network.key(of: place)
            let (rate, beacons) = adverts.values(of: key, at: time)
            return .init(
                key: key, name: receiver.name, kind: receiver.kind.rawValue,
                topic: receiver.kind.hasTopic ? key : nil, advertsPerMinute: rate,
                smoothed: receiver.kind.isSmoothed, beacons: beacons)
        }
        found.hints = hints(at: time)
        return found
    }

    private func hints(at time: Timestamp) -> [GuidedStart.Found.Hint] {
        var hints: [GuidedStart.Found.Hint] = []
        let topics = filters.joined(separator: " ")
        let mayReadNothing = !refused.isEmpty && refused.count == filters.count
        if mayReadNothing {
            hints.append(
                .init(
                    kind: .refused,
                    detail: "The broker accepts the user but lets it read nothing: give it the right to read these "
                        + "topics: \(topics)"))
        } else if !refused.isEmpty {
            hints.append(
                .init(
                    kind: .refused,
                    detail: "The broker does not let this user read these topics: \(refused.joined(separator: " "))"))
        }
        if let listeningSince, isConnected, !mayReadNothing, network.receivers.isEmpty,
            time.since(listeningSince) >= Self.receiverTime
        {
            // Debian's broker grants a subscription to topics that the user may not read, and then sends nothing.
            if !hasProbe {
                hints.append(
                    .init(
                        kind: .unreadable,
                        detail: "Possibly the broker lets this user read nothing, since even a test message did not "
                            + "come back. If it has an access list, give the user the right to read these topics: "
                            + topics))
            }
            hints.append(
                .init(
                    kind: .silent,
                    detail: "Connected, but no receiver speaks. Topics listened to: \(topics). OpenMQTTGateway must "
                        + "scan without pauses."))
        }
        if network.receivers.contains(where: \.kind.isSmoothed) {
            hints.append(
                .init(kind: .smoothed, detail: "ESPresense smooths its levels: rooms work, distances are rough."))
        }
        return hints
    }

    private var silence: String {
        "Nothing answers at \(HostAndPort(host: options.host, port: options.effectivePort)). Is the broker started?"
    }

    /// Returns the fault of a failed connection, without the password.
    private func fault(of error: MQTTError) -> GuidedStart.Draft.Fault {
        switch error.code {
        case .unreachable, .hostUnknown, .timedOut:
            .init(key: "broker.host", detail: "\(silence) (\(error.description))")
        case .badCredentials, .notAuthorized:
            .init(
                key: options.user == nil ? "broker.user" : "broker.password",
                detail: options.user == nil
                    ? "The broker wants a user and a password." : "The broker refuses the user or the password.")
        default: .init(key: "broker.host", detail: error.description)
        }
    }
}

extension NetworkReceiver.Kind {
    /// True if the key of its receivers is the beginning of their topics.
    fileprivate var hasTopic: Bool {
        switch self {
        case .openMQTTGateway, .espresense, .shelly, .relay, .tasmota: true
        default: false
        }
    }
}

extension GuidedStart {
    /// The interval of the reports of a search, and the shorter one until it is connected.
    static let searchInterval = Duration.seconds(1)
    static let firstInterval = Duration.milliseconds(200)

    /// The most messages that wait for a search. A busy house sends fewer in a second.
    private static let maximumInputs = 20_000

    /// Searches for receivers.
    ///
    /// - Parameters:
    ///   - source: the source: a broker, or proxies of ESPHome.
    ///   - time: the longest time.
    ///   - isEnding: returns true once the program ends.
    /// - Returns: the result so far, each second. The stream ends if nothing can be found.
    package static func search(
        _ source: SourceSettings, for time: Duration, until isEnding: @escaping @Sendable () -> Bool
    ) -> AsyncStream<Found> {
        let (stream, continuation) = AsyncStream.makeStream(of: Found.self, bufferingPolicy: .bufferingNewest(1))
        let task = Task {
            defer { continuation.finish() }
            let end = ContinuousClock.now.advanced(by: time)
            let goesOn: @Sendable () -> Bool = { !Task.isCancelled && !isEnding() && ContinuousClock.now < end }
            switch source.specification.network {
            case let broker as BrokerSource: await search(broker, continuation, while: goesOn)
            case let proxies as ESPHomeSource: await search(proxies, continuation, while: goesOn)
            default: break
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    private static func search(
        _ source: BrokerSource, _ continuation: AsyncStream<Found>.Continuation, while goesOn: () -> Bool
    ) async {
        var search = BrokerSearch(source, at: RadioClock.now())
        let silent = Logger(label: "beacon.setup") { _ in SwiftLogNoOpLogHandler() }
        guard let client = try? MQTTClient(source.options, logger: silent) else { return }
        let inputs = Locked<[BrokerSearch.Input]>([])
        let add: @Sendable (BrokerSearch.Input) -> Void = { input in
            inputs.withLock { if $0.count < maximumInputs { $0.append(input) } }
        }
        client.listen { add(.event($0)) }
        let run = Task { await client.run() }
        defer { run.cancel() }
        var subscribing: Task<Void, Never>?
        defer { subscribing?.cancel() }
        while goesOn() {
            let new = inputs.withLock { inputs in
                defer { inputs = [] }
                return inputs
            }
            let now = RadioClock.now()
            for input in new {
                search.receive(input, at: now)
                guard case .event(.connected) = input else { continue }
                subscribing?.cancel()
                subscribing = Task { [filters = search.filters, probe = search.probe] in
                    for filter in filters {
                        do throws(MQTTError) {
                            try await client.subscribe(to: filter, qualityOfService: .atMostOnce)
                        } catch {
                            if error.code != .connectionLost, error.code != .closed { add(.refused(filter)) }
                        }
                    }
                    // Without the right to write it, the message does not come back either, so that this is only a
                    // hint.
                    try? await client.subscribe(to: probe)
                    try? await client.publish(MQTTMessage(topic: probe, text: "test"))
                }
            }
            let found = search.found(at: now)
            continuation.yield(found)
            if search.isOver { return }
            try? await Task.sleep(for: found.state == .connecting ? firstInterval : searchInterval)
        }
    }

    /// Makes OpenMQTTGateways scan without pauses, also after a restart.
    ///
    /// - Parameters:
    ///   - gateways: their topics, up to their names.
    ///   - source: their broker.
    /// - Returns: why this failed; nil if the broker has the messages.
    package static func scanWithoutPauses(_ gateways: [String], at source: BrokerSource) async -> String? {
        let silent = Logger(label: "beacon.setup") { _ in SwiftLogNoOpLogHandler() }
        do {
            let client = try MQTTClient(source.options, logger: silent)
            let run = Task { await client.run() }
            defer { run.cancel() }
            for gateway in gateways {
                // OpenMQTTGateway, "BT: scan interval and active scan".
                try await client.publish(
                    MQTTMessage(
                        topic: "\(gateway)/commands/MQTTtoBT/config",
                        text: #"{"interval":1,"scanbcnct":0,"save":true}"#))
            }
            return nil
        } catch {
            return "\(error)"
        }
    }
}
