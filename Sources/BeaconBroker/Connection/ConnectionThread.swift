import BeaconSupport
import CLibrary
import Logging

/// The thread that maintains a connection to a broker. All blocking calls, and all calls of libmosquitto, happen on it.
struct ConnectionThread: Sendable {
    /// The longest time until a broker accepts a connection.
    private static let connectionTimeout = Duration.seconds(10)

    /// The duration of a connection after which the next failure counts as the first again. Shorter connections, for
    /// instance where two clients have one id and disconnect each other, are followed by growing waits.
    private static let stableDuration = Duration.seconds(10)

    /// The longest time to disconnect, missing acknowledgements included.
    private static let disconnectionTimeout = Duration.seconds(2)

    let options: MQTTOptions
    let requests: RequestTable
    let logger: Logger

    /// Starts the thread, which ends by itself once the request table is closed.
    ///
    /// - Returns: false where the system has no thread left.
    func start() -> Bool {
        let context = Unmanaged.passRetained(Box(self))
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<Box>.fromOpaque(context).takeRetainedValue().thread.main() }
                return nil
            }, context.toOpaque())
        guard result == 0 else {
            context.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    private final class Box {
        let thread: ConnectionThread
        init(_ thread: ConnectionThread) { self.thread = thread }
    }

    private func main() {
        // Writing to a connection that the broker closed raises SIGPIPE, which libmosquitto does not prevent (it calls
        // write(2)). Signals for the process are handled on other threads.
        var signals = sigset_t()
        sigfillset(&signals)
        pthread_sigmask(SIG_BLOCK, &signals, nil)

        let clock = ContinuousClock()
        var generator = SystemRandom()
        var failures = 0
        var loggedFault = ""
        while !requests.isClosing {
            let start = clock.now
            guard let fault = runConnection() else { break }
            failures = clock.now - start > Self.stableDuration ? 1 : failures + 1
            requests.disconnected(fault)
            if failures == 5, fault.code == .connectionLost {
                logger.warning(
                    """
                    the connection to \(options.address) was lost five times in a row; check that no other client has \
                    the client id \(options.clientID)
                    """)
            }
            // The same failure is logged once, not each minute for as long as a broker is down.
            logger.log(level: fault.description == loggedFault ? .debug : .warning, "\(fault)")
            loggedFault = fault.description
            let wait = options.reconnection.wait(afterFailures: failures, asked: nil, using: &generator)
            let end = clock.now + wait
            while !requests.isClosing, clock.now < end {
                requests.waker.wait(atMost: (end - clock.now).wholeMilliseconds)
            }
        }
        requests.finish()
    }

    /// Connects and sends callers' requests until the connection ends.
    ///
    /// - Returns: the cause of the end; nil where the client was closed.
    private func runConnection() -> MQTTError? {
        var sent: [Int32: MQTTRequest.ID] = [:]
        var isConnected = false
        do throws(MQTTError) {
            let session = try MosquittoSession(options, logger: logger)
            try connect(session)
            guard !requests.isClosing else { return nil }
            requests.connected()
            isConnected = true
            logger.info("connected to \(options.address) as \(options.clientID)")
            while !requests.isClosing {
                for (id, action) in requests.removeWaiting(atMost: options.maximumInFlight - sent.count) {
                    try send(action, as: id, by: session, &sent)
                }
                let isBusy = deliverReceived(session, &sent)
                // Twice in half of the keep-alive, so that a ping is never late.
                try session.step(requests.waker, atMost: isBusy ? .zero : options.keepAlive / 4)
            }
            try disconnect(session, &sent)
            return nil
        } catch {
            // Those that were not sent end too: the next connection would bring them before those that have to be sent
            // again.
            if isConnected {
                requests.completeAll(
                    .failure(
                        MQTTError(
                            .connectionLost, "The connection was lost before the broker acknowledged.", cause: error)))
            }
            return error
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
                    "\(options.address) did not answer to the connection; check that it is a "
                        + "broker, and whether it requires TLS.")
            }
            try session.step(requests.waker, atMost: remaining)
        }
        if session.isAccepted { try announce(.online, by: session) }
    }

    private func disconnect(
        _ session: MosquittoSession, _ sent: inout [Int32: MQTTRequest.ID]
    ) throws(MQTTError) {
        let deadline = ContinuousClock.now + Self.disconnectionTimeout
        if let request = try announce(.offline, by: session) { sent[request] = 0 }
        while !sent.isEmpty, ContinuousClock.now < deadline {
            _ = deliverReceived(session, &sent)
            if !sent.isEmpty { try session.step(requests.waker, atMost: deadline - .now) }
        }
        session.disconnect()
    }

    @discardableResult
    private func announce(_ availability: Availability, by session: MosquittoSession) throws(MQTTError) -> Int32? {
        guard let topic = options.availabilityTopic else { return nil }
        return try session.send(
            .publish(MQTTMessage(topic: topic, text: availability.rawValue, isRetained: true)))
    }

    private func send(
        _ action: MQTTRequest.Action, as id: MQTTRequest.ID, by session: MosquittoSession,
        _ sent: inout [Int32: MQTTRequest.ID]
    ) throws(MQTTError) {
        do throws(MQTTError) {
            sent[try session.send(action)] = id
        } catch {
            guard error.code == .invalidMessage else { throw error }
            requests.complete(id, .failure(error))
        }
    }

    /// Delivers messages and acknowledgements from the broker.
    ///
    /// - Returns: true where there were any.
    private func deliverReceived(_ session: MosquittoSession, _ sent: inout [Int32: MQTTRequest.ID]) -> Bool {
        let messages = session.removeMessages()
        let acknowledgements = session.removeAcknowledgements()
        for message in messages { requests.received(message) }
        for acknowledgement in acknowledgements {
            guard let id = sent.removeValue(forKey: acknowledgement.request) else { continue }
            if acknowledgement.reason.isFailure {
                requests.complete(
                    id,
                    .failure(
                        MQTTError(
                            acknowledgement.reason == .notAuthorized ? .notAuthorized : .messageRefused,
                            "The broker refused the request: \(acknowledgement.reason).", reason: acknowledgement.reason
                        )))
            } else {
                requests.complete(id, .success(()))
            }
        }
        return !messages.isEmpty || !acknowledgements.isEmpty
    }
}

extension Duration {
    /// Whole milliseconds for `poll`: rounded up, so that the thread does not spin for less than one, and never
    /// negative.
    var wholeMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: min(seconds, 1_000_000) * 1000 + fraction)
    }
}
