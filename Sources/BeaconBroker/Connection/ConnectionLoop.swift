import BeaconSupport
import Logging

/// The consecutive connections of a client, with the state that they share.
struct ConnectionLoop {
    /// The longest wait for a broker to accept a connection.
    private static let connectionTimeout = Duration.seconds(10)

    /// The duration after which a connection counts as stable, so that the next failure counts as the first. After
    /// shorter connections the waits grow. Such connections occur, for example, if two clients have the same id and
    /// disconnect each other.
    private static let stableDuration = Duration.seconds(10)

    /// The longest time to disconnect, including the wait for acknowledgements.
    private static let disconnectionTimeout = Duration.seconds(2)

    private let options: MQTTSettings
    private let requests: RequestTable
    private let logger: Logger
    private var terms: ConnectionTerms
    private var sent = SentRequests()
    private var suspects = SuspectMessages()
    private var warnings: Set<String> = []
    private var isConnected = false
    private var receipts = ReceiptPace()

    /// Starts a thread that maintains a connection to a broker until the request table is closed. It makes all blocking
    /// calls and all calls of libmosquitto.
    ///
    /// - Returns: `false` if the system cannot create another thread.
    static func start(_ options: MQTTSettings, _ requests: RequestTable, _ logger: Logger) -> Bool {
        SignalFreeThread.start {
            var loop = ConnectionLoop(options: options, requests: requests, logger: logger)
            loop.run()
            requests.finish()
        }
    }

    private init(options: MQTTSettings, requests: RequestTable, logger: Logger) {
        (self.options, self.requests, self.logger) = (options, requests, logger)
        terms = ConnectionTerms(options)
    }

    /// Maintains a connection until the client is closed.
    private mutating func run() {
        let clock = ContinuousClock()
        var generator = SystemRandom()
        var failures = 0
        var loggedFault = ""
        while !requests.isClosing {
            let start = clock.now
            guard let fault = runConnection() else { break }
            failures = clock.now - start > Self.stableDuration ? 1 : failures + 1
            // Log a repeated failure once, not each minute while a broker is down.
            let text = "\(fault)\(sent.summary.map { " Not yet acknowledged: \($0)." } ?? "")"
            logger.log(level: text == loggedFault ? .debug : .warning, "\(text)")
            loggedFault = text
            end(because: fault)
            let wait = options.reconnection.wait(afterFailures: failures, asked: nil, using: &generator)
            let end = clock.now + wait
            while !requests.isClosing, clock.now < end {
                requests.waker.wait(atMost: (end - clock.now).wholeMilliseconds)
            }
        }
    }

    /// Reports the end of a connection or of an attempt to callers.
    private mutating func end(because fault: MQTTError) {
        defer { requests.disconnected(fault) }
        guard isConnected else { return }
        isConnected = false
        // The availability message is short, and each connection must send it, so it is never suspected.
        if fault.isPossiblyOfMessage, let id = sent.firstID, case .publish(let message)? = sent.first,
            message.topic != options.availabilityTopic, suspects.noteLoss(with: message)
        {
            requests.complete(id, .failure(SuspectMessages.error(message, to: options.address)))
        }
        // Requests that were not sent end as well. Otherwise the next connection would send them before those that must
        // be sent again.
        let lost = sent.summary.map { " Not yet acknowledged: \($0)." } ?? ""
        requests.completeAll(
            .failure(
                MQTTError(
                    .connectionLost, "The connection was lost before the broker acknowledged.\(lost)", cause: fault)))
        sent.removeAll()
    }

    /// Connects and sends callers' requests until the connection ends.
    ///
    /// - Returns: The cause of the end; nil if the client was closed.
    private mutating func runConnection() -> MQTTError? {
        terms.begin()
        do throws(MQTTError) {
            let session = try connect()
            guard session.isAccepted else { return nil }
            terms.adopt(session.limits)
            requests.connected(keepsRetained: session.retains)
            isConnected = true
            logger.info("connected to \(options.address) as \(options.clientID), with MQTT \(session.terms.version)")
            try announce(options.mayRestart ? .restarting : .online, by: session)
            while !requests.isClosing {
                if suspects.isLooking || sent.isCareful { sent.removeAbandoned(requests.isOpen) }
                let room = sent.room(atMost: session.window, hasSuspect: suspects.isLooking)
                for (id, action) in requests.removeWaiting(atMost: room) {
                    try send(action, as: id, by: session)
                }
                let isBusy = deliverReceived(session)
                // Do not pause while requests wait for an acknowledgement.
                if !isBusy, sent.isEmpty, let pause = receipts.takePause(at: .now) {
                    requests.waker.wait(atMost: pause.wholeMilliseconds)
                    continue
                }
                try session.step(requests.waker, atMost: isBusy ? .zero : session.longestStep)
            }
            try disconnect(session)
            return nil
        } catch {
            return error
        }
    }

    /// Connects, and gives up terms that the broker refuses.
    ///
    /// - Returns: A session that the broker has accepted, unless the client was closed.
    private mutating func connect() throws(MQTTError) -> MosquittoSession {
        var firstRefusal: MQTTError?
        while true {
            do throws(MQTTError) {
                let session = try MosquittoSession(options, on: terms, logger: logger)
                try connect(session)
                return session
            } catch {
                guard !requests.isClosing, terms.giveUp(after: error) else {
                    // If the broker accepted neither version, the first reason is the more useful one.
                    if error.reason == nil, let firstRefusal { throw firstRefusal }
                    throw error
                }
                logger.debug("\(error) Trying again with MQTT \(terms.version)")
                if error.reason != nil { firstRefusal = firstRefusal ?? error }
            }
        }
    }

    private func connect(_ session: MosquittoSession) throws(MQTTError) {
        try session.connect()
        let deadline = ContinuousClock.now + Self.connectionTimeout
        while !session.isAccepted, !requests.isClosing {
            let remaining = deadline - .now
            guard remaining > .zero else {
                throw MQTTError(
                    .timedOut,
                    "\(options.address) accepted the connection but did not answer CONNECT within "
                        + "\(Self.connectionTimeout).",
                    possibleCauses: [
                        options.tls == nil ? "the port requires TLS" : "the port does not speak TLS",
                        "the broker hangs", "something other than a broker listens there",
                    ])
            }
            try session.step(requests.waker, atMost: remaining)
        }
    }

    private mutating func disconnect(_ session: MosquittoSession) throws(MQTTError) {
        let deadline = ContinuousClock.now + Self.disconnectionTimeout
        try announce(options.mayRestart ? .restarting : .offline, by: session)
        while !sent.isEmpty, ContinuousClock.now < deadline {
            _ = deliverReceived(session)
            if !sent.isEmpty { try session.step(requests.waker, atMost: deadline - .now) }
        }
        session.disconnect()
    }

    private mutating func announce(
        _ availability: Availability, by session: MosquittoSession
    ) throws(MQTTError) {
        guard let topic = options.availabilityTopic else { return }
        try send(
            .publish(MQTTMessage(topic: topic, text: availability.rawValue, isRetained: true)), as: nil, by: session)
    }

    private mutating func send(
        _ action: MQTTRequest.Action, as id: MQTTRequest.ID?, by session: MosquittoSession
    ) throws(MQTTError) {
        do throws(MQTTError) {
            if case .publish(let message) = action {
                guard !suspects.contains(message) else { throw SuspectMessages.error(message, to: options.address) }
                warn(of: message, by: session)
            }
            sent.add(action, as: id, acknowledgedBy: try session.send(action))
        } catch {
            guard error.code == .invalidMessage || error.code == .breaksConnection else { throw error }
            if let id { requests.complete(id, .failure(error)) } else { warnOnce("\(error)", of: "\(error)") }
        }
    }

    /// Warns once if the broker supports less than a message requests.
    private mutating func warn(of message: MQTTMessage, by session: MosquittoSession) {
        if message.isRetained, options.retainsMessages, !session.retains {
            warnOnce(
                "The broker at \(options.address) keeps no retained messages: \(message) and others are not "
                    + "retained, and a later subscriber receives nothing until the next change. To silence this "
                    + "warning, write retain: false.", of: "retained")
        }
        if session.quality(of: message) != message.qualityOfService {
            warnOnce(
                "The broker at \(options.address) supports only QoS 0: \(message) and others count as delivered once "
                    + "they are written. To silence this warning, write qos: 0.", of: "quality")
        }
    }

    /// Logs a warning once per subject. The number of subjects is bounded: they are few, or topics of the client
    /// itself.
    private mutating func warnOnce(_ text: String, of subject: String) {
        if warnings.insert(subject).inserted { logger.warning("\(text)") }
    }

    /// Delivers messages and acknowledgements from the broker.
    ///
    /// - Returns: Whether there were any.
    private mutating func deliverReceived(_ session: MosquittoSession) -> Bool {
        let received = session.removeReceived()
        let acknowledgements = session.removeAcknowledgements()
        for event in received { requests.received(event) }
        for acknowledgement in acknowledgements {
            guard let (id, action) = sent.remove(acknowledgement.request) else { continue }
            if case .publish(let message) = action { suspects.noteAcknowledgement(of: message) }
            let result: Result<Void, MQTTError> =
                acknowledgement.reason.isFailure
                ? .failure(refusal(of: action, acknowledgement.reason)) : .success(())
            if let id {
                requests.complete(id, result)
            } else if case .failure(let error) = result {
                warnOnce("\(error)", of: "\(error)")
            }
        }
        if !received.isEmpty { receipts.note(at: .now) }
        return !received.isEmpty || !acknowledgements.isEmpty
    }

    private func refusal(of action: MQTTRequest.Action, _ reason: MQTTReason) -> MQTTError {
        MQTTError(
            reason == .notAuthorized ? .notAuthorized : .messageRefused,
            "The broker at \(options.address) refused \(action): \(reason).", reason: reason)
    }
}

extension Duration {
    /// The duration in whole milliseconds for `poll`. It is rounded up, so that the thread does not spin for a fraction
    /// of one, and never negative.
    var wholeMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: min(seconds, 1_000_000) * 1000 + fraction)
    }
}
