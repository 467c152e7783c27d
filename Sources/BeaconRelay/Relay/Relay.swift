import BeaconApplications
import BeaconBroker
package import BeaconModel
import BeaconRadio
import BeaconReceivers
import BeaconSupport
import Foundation
import Logging

/// A client that publishes the adverts of a source to a broker, and thereby acts as a receiver for others. It drops
/// outdated adverts, but retries changes of regions without a limit.
///
/// Its topics are `PREFIX/beacon-relay/NAME/` plus `heard` (``RelayMessage``), `status` (online and offline, retained)
/// and `transitions` (one JSON object each).
package final class Relay: Sendable {
    /// The settings of a relay.
    package struct Options: Sendable {
        /// The name of this receiver for subscribers.
        package var name: String
        /// The beacons to publish; empty for all.
        package var constraints: [BeaconConstraint] = []

        let broker: MQTTSettings
        let topic: String
        private let prefix: String

        /// Creates settings for a broker.
        ///
        /// - Parameters:
        ///   - broker: the broker in the form of a source: `mqtt://[USER[:PASSWORD]@]HOST[:PORT][/PREFIX][?KEY=VALUE]`.
        ///   - name: the name of this receiver for subscribers; nil for the machine's name.
        /// - Throws: ``RelayError`` if they contain a mistake.
        package init(broker text: String, name: String?) throws(RelayError) {
            guard let source = BrokerSource(text) else {
                throw RelayError(
                    .noBroker, "\"\(text.shownAddress)\" is not a broker; write mqtt://HOST or mqtts://HOST")
            }
            let machine = String(ProcessInfo.processInfo.hostName.prefix { $0 != "." })
            self.name = name ?? (machine.isEmpty ? "relay" : machine)
            prefix = source.filters.map { $0.joined(separator: ",") + "/" } ?? ""
            topic = prefix + ReceiverNetwork.relayLevel + "/" + TopicLevel.escape(self.name)
            var broker = source.options
            broker.announcesAvailability = true
            broker.baseTopic = topic
            // The same with each start, so that a second relay of the same name becomes noticeable.
            if source.query["client-id"] == nil { broker.clientID = topic.replacing("/", with: "-") }
            // The broker reports a dead relay after one and a half times this interval.
            if source.query["keep-alive"] == nil { broker.keepAlive = .seconds(5) }
            self.broker = broker
            var mistakes = source.hasAddressMistake ? source.mistakes() : broker.mistakes()
            if self.name.isEmpty { mistakes.append("the name is empty; write another --name") }
            if self.name.utf8.count > 64 { mistakes.append("the name is longer than 64 bytes; write a shorter --name") }
            // The limit of the subscribers.
            if topic.utf8.count > 256 {
                mistakes.append("prefix and name are longer than 256 bytes; write shorter ones")
            }
            guard mistakes.isEmpty else {
                throw RelayError(
                    .invalidSettings, "the broker \(source.title): \(mistakes.joined(separator: "; "))")
            }
        }

        /// The broker, for people.
        package var title: String { HostAndPort(host: broker.host, port: broker.port).description }

        /// The default file for the changes that wait for the broker.
        package var storePath: String {
            // A file's name has at most 255 bytes; the end of the topic is more specific than its beginning.
            StateDirectory.user.url.path + "/relay-" + TopicLevel.escape(prefix + name).suffix(60) + ".json"
        }
    }

    /// The counts of published adverts, messages, bytes and transitions.
    package struct Counts: Sendable {
        package var adverts = 0
        package var messages = 0
        package var bytes = 0
        package var transitions = 0
        /// Adverts that were dropped.
        package var dropped = 0
    }

    /// The most transitions to publish at once.
    private static let batch = 16

    /// The time for the last messages after the source has ended.
    private static let patience = Duration.milliseconds(500)

    private let options: Options
    private let client: MQTTClient
    private let store: TransitionStore?
    private let report: @Sendable (String) -> Void
    private let queue: RelayQueue
    private let session = UInt32.random(in: .min ... .max)
    private let transitions = Locked((made: 0, sent: 0))
    private let end = AsyncSignal()

    /// Creates a relay without a connection.
    ///
    /// - Parameters:
    ///   - options: the settings.
    ///   - store: the changes of regions that wait; nil if no region is monitored.
    ///   - report: called with notices for the operator.
    /// - Throws: ``RelayError`` if the settings contain a mistake.
    package init(
        _ options: Options, store: TransitionStore?, report: @escaping @Sendable (String) -> Void
    ) throws(RelayError) {
        self.options = options
        self.store = store
        self.report = report
        do throws(MQTTError) {
            // Disable the client's log: `report` covers it.
            client = try MQTTClient(
                options.broker, logger: Logger(label: "beacon.relay") { _ in SwiftLogNoOpLogHandler() })
        } catch {
            throw RelayError(.invalidSettings, error.message, cause: error)
        }
        let (client, topic) = (client, options.topic + "/heard")
        queue = RelayQueue(report: report) { payload, done in
            client.submit(MQTTMessage(topic: topic, payload: payload, qualityOfService: .atMostOnce)) { result in
                switch result {
                case .success: done(.sent)
                case .failure(let error): done(error.code == .invalidMessage ? .refused : .disconnected)
                }
            }
        }
    }

    /// The counts since the start.
    package var counts: Counts {
        let sent = queue.counts
        return Counts(
            adverts: sent.adverts, messages: sent.messages, bytes: sent.bytes,
            transitions: transitions.withLock { $0.sent }, dropped: sent.dropped)
    }

    /// Returns a feed for the adverts of a source. Use it on the thread that polls the source.
    ///
    /// - Parameters:
    ///   - isLive: true for a radio: the oldest adverts are dropped if the broker is too slow. False for recordings,
    ///     which wait.
    ///   - hasOneReceiver: true if the source is a single adapter, which gets the relay's name.
    package func feed(isLive: Bool, hasOneReceiver: Bool) -> RelayFeed {
        RelayFeed(
            queue: queue, session: session, constraints: options.constraints, isLive: isLive,
            hasOneReceiver: hasOneReceiver)
    }

    /// Adds the change of a region.
    package func note(_ change: RegionEvent) {
        let number = transitions.withLock { transitions in
            transitions.made += 1
            return transitions.made
        }
        store?.add(change, id: String(session, radix: 16) + "-\(number)")
    }

    /// True if nothing but changes of regions waits to be sent.
    package var isDrained: Bool { queue.isEmpty }

    /// Connects and publishes until ``finish()`` is called and everything was sent or cannot be sent.
    ///
    /// - Returns: true if the changes of regions that still wait are saved.
    package func run() async -> Bool {
        await withTaskGroup { group in
            group.addTask {
                await self.client.run()
                guard !Task.isCancelled else { return }
                self.report(
                    "Cannot connect: the system has too many threads. Stop some programs, and restart this one."
                )
                await self.end.wait(after: 0)
            }
            group.addTask { await self.reportConnection() }
            group.addTask {
                await self.sendTransitions()
                await self.end.wait(after: 0)
                await self.queue.drain()
            }
            group.addTask {
                await self.end.wait(after: 0)
                try? await Task.sleep(for: Self.patience)
            }
            // Only the last two tasks end by themselves: everything was sent, or cannot be sent.
            await group.next()
            group.cancelAll()
        }
        queue.abandon()
        return await store?.flush() ?? true
    }

    /// Notes the end of the source.
    package func finish() {
        end.signal()
        store?.signal.signal()
    }

    private func reportConnection() async {
        var reported = ""
        var connectedAt: ContinuousClock.Instant?
        var shortConnections = 0
        for await event in client.events() {
            switch event {
            case .connected:
                connectedAt = .now
                queue.setConnected(true)
                reported = ""
                report("Connected to \(options.title), relaying as \(options.name.printable).")
            case .disconnected(let error):
                queue.setConnected(false)
                // Report a repeated failure once, not with each attempt.
                if "\(error)" != reported { report("\(error.sentence) Trying again.") }
                reported = "\(error)"
                // Two relays of the same name disconnect each other.
                let isShort = connectedAt.map { ContinuousClock.now - $0 < .seconds(10) } ?? false
                shortConnections = isShort ? shortConnections + 1 : connectedAt == nil ? shortConnections : 0
                if isShort, shortConnections == 3 {
                    report(
                        "The connection was lost three times in a row. Possible causes: another relay has the name "
                            + "\(options.name.printable) "
                            + "and needs another --name; the broker or the network is unstable."
                    )
                }
                connectedAt = nil
            case .message, .messageTooLong: break
            }
        }
    }

    private func sendTransitions() async {
        guard let store else { return }
        var reported = ""
        while !Task.isCancelled {
            let seen = store.signal.count
            let waiting = store.first(Self.batch)
            guard !waiting.isEmpty else {
                if end.count > 0 { return }
                await store.signal.wait(after: seen)
                continue
            }
            let results = await client.publish(
                waiting.map { MQTTMessage(topic: options.topic + "/transitions", text: $0.line, id: $0.id) })
            let sent = zip(waiting, results).filter { if case .success = $0.1 { true } else { false } }
            store.remove(Set(sent.map(\.0.id)))
            transitions.withLock { $0.sent += sent.count }
            guard sent.count < waiting.count else { continue }
            // `reportConnection` reports failures of the connection.
            for case .failure(let error) in results
            where ![.connectionLost, .closed, .unreachable, .hostUnknown].contains(error.code) {
                if "\(error)" != reported {
                    report("\(error.sentence) Changes of regions wait until the broker accepts them.")
                }
                reported = "\(error)"
            }
            try? await Task.sleep(for: .seconds(1))
        }
    }
}

/// A mistake in the settings of a relay, with its remedy.
package struct RelayError: Error, CustomStringConvertible {
    /// A kind of mistake.
    package enum Code: Sendable {
        case noBroker, invalidSettings
    }

    /// The kind of mistake.
    package var code: Code
    /// The mistake and its remedy.
    package var message: String
    /// The error behind it, if there is one.
    package var cause: (any Error)?

    init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The message.
    package var description: String { message }
}
