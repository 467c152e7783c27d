import BeaconBroker
import BeaconModel
import BeaconRadio
import BeaconSupport
import CLibrary

/// The driver of receivers that publish to a broker.
final class BrokerDriver: ReceiverDriver {
    /// How long to wait for a first message from any receiver before a notice, in nanoseconds.
    private static let receiverPatience = 30 * Timestamp.nanosecondsPerSecond

    let name: String
    private let source: BrokerSource
    private let subscriber: BrokerSubscriber
    private var network: ReceiverNetwork
    private var fault: MQTTError?
    private var reportedFault: String?
    /// The time at which the connection began; nil while there is no connection.
    private var connectedSince: Timestamp?
    private var hasReportedSilence = false
    private var reportedSmoothed: Set<String> = []
    private var reportedTooLong: Set<String> = []

    /// Starts to connect to a broker.
    ///
    /// - Throws: an error that lists the mistakes in the settings.
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

    var receiverKeys: [String] { network.nameKeys }

    var receiverStatuses: [ReceiverStatus] { network.statuses }

    var state: RadioState {
        // Before the first message no receiver is known that could be deaf.
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
            // At most `now`: everything up to the previous step has been delivered.
            let time = min(Timestamp(nanoseconds: item.time), now)
            switch item.content {
            case .connected: connect(at: time, &batch)
            case .disconnected(let error): disconnect(error, &batch)
            case .refused(let filter, let error):
                notice(
                    .degraded,
                    "the broker refuses the subscription to \(filter): \(error.sentence) Allow this user to read it",
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
        notice(.adapterUsed, "connected and listening to receivers", &batch)
    }

    private func disconnect(_ error: MQTTError, _ batch: inout AdvertBatch) {
        fault = error
        connectedSince = nil
        network.disconnect()
        // Report a repeated failure once, not with each attempt.
        guard reportedFault != "\(error)" else { return }
        reportedFault = "\(error)"
        notice(.adapterLost, "\(error.sentence) Trying again", &batch)
    }

    /// Reports messages that the queue dropped because it was full. Their content is unknown, so all receivers were
    /// deaf.
    private func reportLoss(_ count: Int, since: Int64, at now: Timestamp, _ batch: inout AdvertBatch) {
        for receiver in network.names.indices {
            batch.report(.deaf(from: Timestamp(nanoseconds: since), to: now, receiver: ReceiverID(UInt16(receiver))))
        }
        notice(.degraded, "\(count) messages were dropped because they arrived faster than they could be read", &batch)
    }

    /// Reports a message that is longer than any receiver sends, once for each topic.
    private func reportTooLong(_ topic: String, _ size: Int, _ batch: inout AdvertBatch) {
        guard reportedTooLong.count < 100, reportedTooLong.insert(topic).inserted else { return }
        notice(
            .degraded,
            "ignored a message of \(size) bytes at \(topic.prefix(bytes: 200).printable); a receiver's message "
                + "has at most \(MQTTMessage.longestReceived)", &batch)
    }

    private func reportSmoothed(_ batch: inout AdvertBatch) {
        let smoothed = network.receivers.filter(\.kind.isSmoothed).map(\.name)
        let new = smoothed.filter { reportedSmoothed.insert($0).inserted }
        guard !new.isEmpty else { return }
        notice(
            .degraded,
            "\(new.joined(separator: ", ")): ESPresense smooths and thins its reports. "
                + "They serve presence and places, but not ranging",
            &batch)
    }

    private func reportSilence(at now: Timestamp, _ batch: inout AdvertBatch) {
        guard let connectedSince, !hasReportedSilence, network.names.isEmpty,
            now.since(connectedSince) > Self.receiverPatience
        else { return }
        hasReportedSilence = true
        notice(
            .livenessUnknown,
            "no receiver has sent anything for 30 s. Do they publish to this broker, and at these topics, and may this "
                + "user read them: " + (source.filters ?? BrokerSource.defaultFilters).joined(separator: " ") + "?",
            &batch)
    }

    private func notice(_ kind: RadioNotice.Kind, _ message: String, _ batch: inout AdvertBatch) {
        batch.report(.notice(RadioNotice(kind, adapter: name, message)))
    }

    func close() { subscriber.close() }
}

extension MQTTError {
    /// True if only another configuration helps.
    fileprivate var isLasting: Bool { code == .badCredentials || code == .notAuthorized }
}
