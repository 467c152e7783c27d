import BeaconDelivery
import Glibc
import Logging

/// The thread that keeps a connection to a broker up. All that blocks, and all calls of libmosquitto, are here.
struct ConnectionThread: Sendable {
    /// How long a broker may take to answer to a connection.
    private static let longestGreeting = Duration.seconds(10)

    /// How long a connection has to hold before the next failure counts as the first again. A broker that ends each
    /// connection at once, since two clients have one name, is not asked more and more often.
    private static let steady = Duration.seconds(10)

    /// How long the end may take, acknowledgements that are still missing included.
    private static let longestFarewell = Duration.seconds(2)

    let options: MQTTOptions
    let switchboard: Switchboard
    let logger: Logger

    /// Starts the thread, which ends by itself once the switchboard is closed.
    ///
    /// - Returns: whether there is one.
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
        // write(2)); and signals for the process are for other threads.
        var signals = sigset_t()
        sigfillset(&signals)
        pthread_sigmask(SIG_BLOCK, &signals, nil)

        let clock = ContinuousClock()
        var generator = SystemChance()
        var failures = 0
        var told = ""
        while !switchboard.isClosing {
            let began = clock.now
            guard let fault = converse() else { break }
            failures = clock.now - began > Self.steady ? 1 : failures + 1
            switchboard.disconnected(fault)
            if failures == 5, fault.code == .connectionLost {
                logger.warning("the connection is lost again and again; does another client have the same client id?")
            }
            // A broker that is away for a day is not worth a line each minute.
            logger.log(level: fault.description == told ? .debug : .warning, "\(fault)")
            told = fault.description
            let wait = options.reconnection.wait(afterFailures: failures, asked: nil, using: &generator)
            let end = clock.now + wait
            while !switchboard.isClosing, clock.now < end { switchboard.wakeUp.wait(atMost: end - clock.now) }
        }
        switchboard.finish()
    }

    /// Connects and serves callers.
    ///
    /// - Returns: why it ended; nil where that was wanted.
    private func converse() -> MQTTError? {
        var sent: [Int32: MQTTRequest.ID] = [:]
        do throws(MQTTError) {
            let session = try MosquittoSession(options, logger: logger)
            try greet(session)
            guard !switchboard.isClosing else { return nil }
            switchboard.connected()
            logger.info("connected to \(options.place) as \(options.clientID)")
            while !switchboard.isClosing {
                for (id, action) in switchboard.take(atMost: options.maximumInFlight - sent.count) {
                    try send(action, as: id, by: session, &sent)
                }
                let isBusy = takeWhatCame(session, &sent)
                // Twice in half of the silence that is allowed, so that a ping is never late.
                try session.step(switchboard.wakeUp, atMost: isBusy ? .zero : options.keepAlive / 4)
            }
            try farewell(session, &sent)
            return nil
        } catch {
            for id in sent.values {
                switchboard.complete(
                    id,
                    .failure(
                        MQTTError(
                            .connectionLost, "The connection was lost before the broker acknowledged.", cause: error)))
            }
            return error
        }
    }

    private func greet(_ session: MosquittoSession) throws(MQTTError) {
        try session.connect()
        let deadline = ContinuousClock.now + Self.longestGreeting
        while !session.isAccepted, !switchboard.isClosing {
            let remaining = deadline - .now
            guard remaining > .zero else {
                throw MQTTError(
                    .timedOut,
                    "\(options.place) took the connection and said nothing; check that it is a "
                        + "broker, and whether it wants TLS.")
            }
            try session.step(switchboard.wakeUp, atMost: remaining)
        }
        if session.isAccepted { try tell(.online, by: session) }
    }

    private func farewell(
        _ session: MosquittoSession, _ sent: inout [Int32: MQTTRequest.ID]
    ) throws(MQTTError) {
        let deadline = ContinuousClock.now + Self.longestFarewell
        if let request = try tell(.offline, by: session) { sent[request] = 0 }
        while !sent.isEmpty, ContinuousClock.now < deadline {
            _ = takeWhatCame(session, &sent)
            if !sent.isEmpty { try session.step(switchboard.wakeUp, atMost: deadline - .now) }
        }
        session.disconnect()
    }

    @discardableResult
    private func tell(_ availability: Availability, by session: MosquittoSession) throws(MQTTError) -> Int32? {
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
            guard error.code == .invalidMessage else {
                // It was taken off the queue and is on no list yet.
                switchboard.complete(id, .failure(error))
                throw error
            }
            switchboard.complete(id, .failure(error))
        }
    }

    /// Hands on what came from the broker.
    ///
    /// - Returns: whether anything did.
    private func takeWhatCame(_ session: MosquittoSession, _ sent: inout [Int32: MQTTRequest.ID]) -> Bool {
        let messages = session.takeMessages()
        let answers = session.takeAnswers()
        for message in messages { switchboard.received(message) }
        for answer in answers {
            guard let id = sent.removeValue(forKey: answer.request) else { continue }
            if answer.reason.isFailure {
                switchboard.complete(
                    id,
                    .failure(
                        MQTTError(
                            answer.reason == .notAuthorized ? .notAuthorized : .messageRefused,
                            "The broker refused: \(answer.reason).", reason: answer.reason)))
            } else {
                switchboard.complete(id, .success(()))
            }
        }
        return !messages.isEmpty || !answers.isEmpty
    }
}
