import BeaconBroker
import BeaconModel
import BeaconRadio
import BeaconReceivers
import BeaconSupport
import CLibrary
import LinuxRadio

/// A broker's receivers as the adapters of a radio, so that everything around a radio is the same: outages, deafness,
/// its states and the wall clock.
final class BrokerDriver: AdapterDriver {
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
    private var mode = ScanMode.off
    private var unanswered: [IBeaconFrame] = []
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
        network = ReceiverNetwork(source.network)
        do throws(MQTTError) {
            subscriber = try BrokerSubscriber(source.options, filters: source.filters ?? BrokerSource.defaultFilters) {
                RadioClock.now().nanoseconds
            }
        } catch {
            throw RadioError(.failed, "\(error)")
        }
        subscriber.open()
    }

    var descriptor: Int32 { subscriber.waker.descriptor }

    var interest: Int16 { Int16(POLLIN) }

    var deadline: Timestamp { unanswered.isEmpty ? network.deadline : .zero }

    var receiverNames: [String] { network.names }

    var receiverStatuses: [ReceiverStatus] { network.statuses }

    var state: RadioState {
        // Before the first receiver has sent something there is nobody who does not hear.
        if connectedSince != nil {
            return network.names.isEmpty ? .unknown : network.isHearing ? .poweredOn : .resetting
        }
        return fault.map { $0.isLasting ? .unauthorized : .resetting } ?? .unknown
    }

    func scan(_ mode: ScanMode) { self.mode = mode }

    func advertise(_ frames: [IBeaconFrame]) { unanswered = frames }

    func process(
        at now: Timestamp, as receiver: ReceiverID, deliver: (Reception, RawSpan) throws -> Void,
        report: (RadioEvent) -> Void
    ) throws {
        for frame in unanswered { report(.advertising(frame, .failure(.receiversCannotSend))) }
        unanswered = []
        let batch = subscriber.take()
        if let since = batch.droppedSince { reportLoss(batch.dropped, since: since, at: now, report) }
        for item in batch.items {
            // Never later than this step, up to which everything is delivered.
            let time = min(Timestamp(nanoseconds: item.time), now)
            switch item.content {
            case .connected: connect(at: time, report)
            case .disconnected(let error): disconnect(error, report)
            case .refused(let filter, let error):
                notice(
                    .degraded,
                    "the broker does not give the messages of \(filter): \(error.sentence) Allow this user to read them",
                    report)
            case .messageTooLong(let topic, let size): reportTooLong(topic, size, report)
            case .message(let message):
                try network.receive(
                    topic: message.topic.utf8.span.bytes, payload: message.payload.span.bytes,
                    isRetained: message.isRetained, at: time,
                    deliver: { if mode != .off { try deliver($0, $1) } }, report: { self.report($0, report) })
            }
        }
        network.advance(to: now) { self.report($0, report) }
        reportSmoothed(report)
        reportSilence(at: now, report)
    }

    private func connect(at time: Timestamp, _ report: (RadioEvent) -> Void) {
        fault = nil
        reportedFault = nil
        connectedSince = time
        network.connect(at: time)
        notice(.adapterUsed, "connected, and listening to receivers", report)
    }

    private func disconnect(_ error: MQTTError, _ report: (RadioEvent) -> Void) {
        fault = error
        connectedSince = nil
        network.disconnect()
        // The same failure once, not with each attempt.
        guard reportedFault != "\(error)" else { return }
        reportedFault = "\(error)"
        notice(.adapterLost, "\(error.sentence) It is tried again", report)
    }

    /// Reports messages that were dropped since nobody took them: nobody knows what was in them.
    private func reportLoss(_ count: Int, since: Int64, at now: Timestamp, _ report: (RadioEvent) -> Void) {
        for receiver in network.names.indices {
            report(.deaf(from: Timestamp(nanoseconds: since), to: now, receiver: ReceiverID(UInt16(receiver))))
        }
        notice(.degraded, "\(count) messages came faster than they could be read, and were dropped", report)
    }

    /// Reports a message that is longer than any receiver's, once for each topic.
    private func reportTooLong(_ topic: String, _ size: Int, _ report: (RadioEvent) -> Void) {
        guard reportedTooLong.count < 100, reportedTooLong.insert(topic).inserted else { return }
        notice(
            .degraded,
            "a message at \(topic.prefix(bytes: 200).printable) has \(size) bytes, and is not read; a message of a "
                + "receiver has at most \(MQTTMessage.longestReceived)", report)
    }

    private func reportSmoothed(_ report: (RadioEvent) -> Void) {
        let smoothed = network.receivers.filter(\.kind.isSmoothed).map(\.name)
        let new = smoothed.filter { reportedSmoothed.insert($0).inserted }
        guard !new.isEmpty else { return }
        notice(
            .degraded,
            "\(new.joined(separator: ", ")): ESPresense smooths and thins what it hears; that is good for presence and places, and is not ranged",
            report)
    }

    private func reportSilence(at now: Timestamp, _ report: (RadioEvent) -> Void) {
        guard let connectedSince, !hasReportedSilence, network.names.isEmpty,
            now.since(connectedSince) > Self.receiverPatience
        else { return }
        hasReportedSilence = true
        notice(
            .livenessUnknown,
            "no receiver has sent anything for 30 s. Do they publish to this broker, and at these topics: "
                + (source.filters ?? BrokerSource.defaultFilters).joined(separator: " ") + "?", report)
    }

    private func report(_ event: RadioEvent, _ report: (RadioEvent) -> Void) {
        guard case .notice(let notice) = event else { return report(event) }
        self.notice(notice.kind, notice.message, report)
    }

    private func notice(_ kind: RadioNotice.Kind, _ message: String, _ report: (RadioEvent) -> Void) {
        report(.notice(RadioNotice(kind, adapter: name, message)))
    }

    func close() { subscriber.close() }
}

extension MQTTError {
    /// True where nothing but another configuration helps.
    fileprivate var isLasting: Bool { code == .badCredentials || code == .notAuthorized }
}

extension RadioError {
    /// The error of receivers that others own, which can only be heard.
    static let receiversCannotSend = RadioError(
        .unsupported, "receivers elsewhere hear and cannot send; use a radio of this machine to send")
}
