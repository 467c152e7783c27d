import BeaconBroker
import BeaconModel
import BeaconRadio
import BeaconSupport
import CLibrary

/// The driver of receivers that publish to a broker.
final class BrokerDriver: ReceiverDriver {
    /// The time within which a receiver should have sent something, in nanoseconds.
    private static let receiverPatience = 30 * Timestamp.nanosecondsPerSecond

    let name: String
    private let source: BrokerSource
    private let subscriber: BrokerSubscriber
    private var network: ReceiverNetwork
    private var fault: MQTTError?
    private var reportedFault: String?
    /// When the connection began; nil where there is none.
    private var connectedSince: Timestamp?
    private var hasReportedSilence = false
    private var reportedSmoothed: Set<String> = []
    private var reportedTooLong: Set<String> = []

    /// Begins to connect to a broker.
    ///
    /// - Throws: an error that lists what is wrong with the settings.
    init(_ source: BrokerSource) throws(RadioError) {
        let mistakes = source.mistakes()
        guard mistakes.isEmpty else {
            throw RadioError(.failed, "the broker \(source.title): \(mistakes.joined(separator: "; "))")
        }
        self.source = source
        name = source.title
        network = ReceiverNetwork(source.network, titled: name)
        network.isListening = false
        do throws(MQTTError) {
            subscriber = try BrokerSubscriber(source.options, filters: source.filters ?? BrokerSource.defaultFilters) {
                RadioClock.now().nanoseconds
            }
        } catch {
            throw RadioError(.failed, "\(error)")
        }
        subscriber.open()
    }

    func forEachPoll(_ body: (_ descriptor: Int32, _ events: Int16) -> Void) {
        body(subscriber.waker.descriptor, Int16(POLLIN))
    }

    var deadline: Timestamp { network.deadline }

    var receiverNames: [String] { network.names }

    var receiverStatuses: [ReceiverStatus] { network.statuses }

    var state: RadioState {
        // Before the first receiver has sent something there is nobody who does not hear.
        if connectedSince != nil {
            return network.names.isEmpty ? .unknown : network.isHearing ? .poweredOn : .resetting
        }
        return fault.map { $0.isLasting ? .unauthorized : .resetting } ?? .unknown
    }

    func scan(_ mode: ScanMode) { network.isListening = mode != .off }

    func process(at now: Timestamp, into batch: inout AdvertBatch) {
        let received = subscriber.take()
        if let since = received.droppedSince { reportLoss(received.dropped, since: since, at: now, &batch) }
        for item in received.items {
            // Never later than this step, up to which everything is delivered.
            let time = min(Timestamp(nanoseconds: item.time), now)
            switch item.content {
            case .connected: connect(at: time, &batch)
            case .disconnected(let error): disconnect(error, &batch)
            case .refused(let filter, let error):
                notice(
                    .degraded,
                    "the broker does not give the messages of \(filter): \(error.sentence) Allow this user to read them",
                    &batch)
            case .messageTooLong(let topic, let size): reportTooLong(topic, size, &batch)
            case .message(let message):
                network.receive(
                    topic: message.topic.utf8.span.bytes, payload: message.payload.span.bytes,
                    isRetained: message.isRetained, at: time, into: &batch)
            }
        }
        network.advance(to: now, into: &batch)
        reportSmoothed(&batch)
        reportSilence(at: now, &batch)
    }

    private func connect(at time: Timestamp, _ batch: inout AdvertBatch) {
        fault = nil
        reportedFault = nil
        connectedSince = time
        network.connect(at: time)
        notice(.adapterUsed, "connected, and listening to receivers", &batch)
    }

    private func disconnect(_ error: MQTTError, _ batch: inout AdvertBatch) {
        fault = error
        connectedSince = nil
        network.disconnect()
        // The same failure once, not with each attempt.
        guard reportedFault != "\(error)" else { return }
        reportedFault = "\(error)"
        notice(.adapterLost, "\(error.sentence) It is tried again", &batch)
    }

    /// Reports messages that were dropped since nobody took them: nobody knows what was in them.
    private func reportLoss(_ count: Int, since: Int64, at now: Timestamp, _ batch: inout AdvertBatch) {
        for receiver in network.names.indices {
            batch.report(.deaf(from: Timestamp(nanoseconds: since), to: now, receiver: ReceiverID(UInt16(receiver))))
        }
        notice(.degraded, "\(count) messages came faster than they could be read, and were dropped", &batch)
    }

    /// Reports a message that is longer than any receiver's, once for each topic.
    private func reportTooLong(_ topic: String, _ size: Int, _ batch: inout AdvertBatch) {
        guard reportedTooLong.count < 100, reportedTooLong.insert(topic).inserted else { return }
        notice(
            .degraded,
            "a message at \(topic.prefix(bytes: 200).printable) has \(size) bytes, and is not read; a message of a "
                + "receiver has at most \(MQTTMessage.longestReceived)", &batch)
    }

    private func reportSmoothed(_ batch: inout AdvertBatch) {
        let smoothed = network.receivers.filter(\.kind.isSmoothed).map(\.name)
        let new = smoothed.filter { reportedSmoothed.insert($0).inserted }
        guard !new.isEmpty else { return }
        notice(
            .degraded,
            "\(new.joined(separator: ", ")): ESPresense smooths and thins what it hears; that is good for presence and places, and is not ranged",
            &batch)
    }

    private func reportSilence(at now: Timestamp, _ batch: inout AdvertBatch) {
        guard let connectedSince, !hasReportedSilence, network.names.isEmpty,
            now.since(connectedSince) > Self.receiverPatience
        else { return }
        hasReportedSilence = true
        notice(
            .livenessUnknown,
            "no receiver has sent anything for 30 s. Do they publish to this broker, and at these topics: "
                + (source.filters ?? BrokerSource.defaultFilters).joined(separator: " ") + "?", &batch)
    }

    private func notice(_ kind: RadioNotice.Kind, _ message: String, _ batch: inout AdvertBatch) {
        batch.report(.notice(RadioNotice(kind, adapter: name, message)))
    }

    func close() { subscriber.close() }
}

extension MQTTError {
    /// True where nothing but another configuration helps.
    fileprivate var isLasting: Bool { code == .badCredentials || code == .notAuthorized }
}
