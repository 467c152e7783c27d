import BeaconSupport
import CLibrary
import CMosquitto
import Logging

/// One libmosquitto connection to a broker, from its beginning to its end.
///
/// Only the thread of ``ConnectionLoop`` uses it. The library's callbacks run on the same thread, because they occur
/// only within those calls. Each connection has its own client structure. The library therefore stores no messages for
/// the next connection; callers receive the failure and send their messages again, in order.
final class MosquittoSession {
    /// The broker's acknowledgement of a request.
    struct Acknowledgement {
        var request: Int32
        var reason: MQTTReason
    }

    /// Whether the broker has accepted the connection.
    var isAccepted = false

    /// The broker's reason for refusing or ending the connection, if it sent one.
    var refusal: MQTTReason?

    /// The broker's explanation of the reason, if it sent one.
    private var refusalText: String?

    /// The limits that the broker announced when it accepted the connection.
    var limits = BrokerLimits()

    /// Whether a complete packet has arrived since the flag was last cleared.
    private var hasHeardPacket = false

    /// The first error message of the library or of the TLS library, or the reason for a refused certificate.
    private var tlsMessage: String?

    /// The messages that arrived since the last call of ``removeReceived()``.
    private var received: [MQTTEvent] = []

    /// The acknowledgements that arrived since the last call of ``removeAcknowledgements()``.
    private var acknowledgements: [Acknowledgement] = []

    let logger: Logger

    /// The terms of this connection.
    let terms: ConnectionTerms

    private let options: MQTTSettings
    private var bound = PacketBound()
    private let library: beacon_mosquitto_functions
    let client: OpaquePointer

    /// The kernel's receive buffer for the connection, in bytes. Without this limit it would buffer several megabytes
    /// of a large message before the session can check its size.
    private static let receiveBuffer: Int32 = 256 << 10

    /// The maximum number of reads in one step, so that received messages are delivered while more arrive.
    private static let maximumRounds = 8

    init(_ options: MQTTSettings, on terms: ConnectionTerms, logger: Logger) throws(MQTTError) {
        var problem: UnsafePointer<CChar>?
        guard let library = beacon_mosquitto_load(&problem)?.pointee else {
            throw MQTTError(
                .failed,
                "MQTT needs libmosquitto, which cannot be opened: \(problem.map { String(cString: $0) } ?? ""). "
                    + "Install it (Debian: libmosquitto1)")
        }
        // A new session would end the one of the connection before, and the broker would publish its will message (MQTT
        // 5.0, 3.1.3.2.2). A continued session keeps subscriptions for the time of the delay. Callers subscribe after
        // each connection anyway, and ignore messages that they no longer want.
        let isNew = Self.willDelay(options, on: terms) == 0
        guard let client = library.new(options.clientID, isNew, nil) else {
            throw MQTTError(.failed, "Cannot create a client: there is no memory left, or the client id is not valid.")
        }
        (self.options, self.terms, self.logger) = (options, terms, logger)
        (self.library, self.client) = (library, client)
        library.user_data_set(client, Unmanaged.passUnretained(self).toOpaque())
        setCallbacks()
        try check(
            library.int_option(
                client, MOSQ_OPT_PROTOCOL_VERSION,
                terms.version == .v5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311))
        // Small packets should not wait for the acknowledgement of others (Nagle's algorithm).
        try check(library.int_option(client, MOSQ_OPT_TCP_NODELAY, 1))
        try check(library.int_option(client, MOSQ_OPT_SEND_MAXIMUM, Int32(clamping: options.maximumInFlight)))
        if let user = options.user {
            try check(library.username_pw_set(client, user, options.password?.reveal()))
        }
        if let tls = options.tls { try secure(by: tls) }
        if let availability = options.availabilityTopic { try setWill(at: availability) }
    }

    deinit { library.destroy(client) }

    /// The whole seconds that the broker waits before it publishes the will message and forgets the session; zero with
    /// MQTT 3.1.1. A connection within that time cancels the will message (MQTT 5.0, 3.1.3.2.2).
    private var willDelay: UInt32 { Self.willDelay(options, on: terms) }

    private static func willDelay(_ options: MQTTSettings, on terms: ConnectionTerms) -> UInt32 {
        terms.version == .v5 && options.mayRestart ? UInt32(clamping: options.restartTime.components.seconds) : 0
    }

    private func setWill(at topic: String) throws(MQTTError) {
        var properties: OpaquePointer?
        if willDelay > 0 {
            try check(library.property_add_int32(&properties, MQTT_PROP_WILL_DELAY_INTERVAL, willDelay))
        }
        let will = Array(Availability.offline.rawValue.utf8)
        let result = library.will_set_v5(
            client, topic, Int32(will.count), will, Int32(terms.quality.rawValue), terms.retains, properties)
        if result != MOSQ_ERR_SUCCESS.rawValue { library.property_free_all(&properties) }
        try check(result)
    }

    /// Starts the connection. The call blocks until the broker's machine answers or the attempt fails.
    func connect() throws(MQTTError) {
        var properties: OpaquePointer?
        defer { library.property_free_all(&properties) }
        if terms.version == .v5 {
            try check(
                library.property_add_int32(
                    &properties, MQTT_PROP_MAXIMUM_PACKET_SIZE, UInt32(MQTTMessage.longestReceived)))
        }
        if willDelay > 0 {
            // The will message is published when the session ends, at the latest.
            try check(library.property_add_int32(&properties, MQTT_PROP_SESSION_EXPIRY_INTERVAL, willDelay))
        }
        errno = 0
        let keepAlive = Int32(clamping: options.keepAlive.components.seconds)
        try check(
            library.connect_bind_v5(
                client, options.resolvedHost, Int32(options.effectivePort), keepAlive, nil, properties))
        var size = Self.receiveBuffer
        setsockopt(library.socket(client), SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout.size(ofValue: size)))
    }

    /// The longest wait between two steps: a quarter of the allowed silence, so that a ping is in time.
    var longestStep: Duration { min(options.keepAlive, limits.keepAlive ?? options.keepAlive) / 4 }

    /// The maximum number of unacknowledged requests.
    var window: Int { min(options.maximumInFlight, limits.inFlight ?? .max) }

    /// Whether the broker keeps retained messages.
    var retains: Bool { options.retainsMessages && (terms.version == .v5 ? limits.keepsRetained : terms.retains) }

    /// Returns the quality of service with which a message is sent.
    func quality(of message: MQTTMessage) -> MQTTQualityOfService {
        terms.version == .v5 && limits.quality == .atMostOnce ? .atMostOnce : message.qualityOfService
    }

    /// Waits for the broker, the waker or a time-out, and then reads and writes without blocking.
    ///
    /// - Throws: ``MQTTError`` if the connection is lost or refused.
    func step(_ waker: Waker, atMost duration: Duration) throws(MQTTError) {
        let socket = library.socket(client)
        guard socket >= 0 else { throw lost(MOSQ_ERR_CONN_LOST) }
        let write = library.want_write(client) ? Int16(POLLOUT) : 0
        var polled = [
            pollfd(fd: socket, events: Int16(POLLIN) | write, revents: 0),
            pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        poll(&polled, 2, duration.wholeMilliseconds)
        if polled[1].revents != 0 { waker.reset() }
        errno = 0
        if polled[0].revents & ~Int16(POLLOUT) != 0 {
            // The acknowledgement releases packets that the broker held back. Read them in the same step.
            var rounds = 0
            repeat {
                try read(socket)
                rounds += 1
            } while bound.unread > 0 && rounds < Self.maximumRounds
        }
        if polled[0].revents & Int16(POLLOUT) != 0 { try check(library.loop_write(client, 1)) }
        try check(library.loop_misc(client))
        if let refusal { throw refused(refusal) }
    }

    /// Reads the waiting packets, or a part of one.
    private func read(_ socket: Int32) throws(MQTTError) {
        // With TLS, the sizes of packets are not visible.
        guard let packets = options.tls == nil ? bound.countPackets(on: socket) : 1 else { throw tooLong() }
        hasHeardPacket = false
        for _ in 0..<packets { try check(library.loop_read(client, 1)) }
        acknowledgeAtOnce(socket)
        if bound.isExceededByRead(of: socket, hasEnded: hasHeardPacket) { throw tooLong() }
    }

    private func tooLong() -> MQTTError {
        MQTTError(
            .messageTooLong,
            "A message of more than \(PacketBound.largest) bytes was on its way from \(address), and this client "
                + "ended the connection. Delete it at the broker if it is retained, subscribe to fewer topics, or use "
                + "MQTT 5, with which the broker does not send it.")
    }

    /// Starts to send a request.
    ///
    /// - Returns: The number of its acknowledgement.
    /// - Throws: ``MQTTError``: `invalidMessage` if the message is not valid. Any other code means that the connection
    ///   is lost.
    func send(_ action: MQTTRequest.Action) throws(MQTTError) -> Int32 {
        if case .publish(let message) = action { try checkSize(of: message) }
        var request: Int32 = 0
        let result: Int32
        errno = 0
        switch action {
        case .publish(let message): result = publish(message, as: &request)
        case .subscribe(let filter, let quality):
            // Without the option "no local": some brokers apply it to retained messages, and the gateway reads its own.
            result = library.subscribe_v5(client, &request, filter, Int32(quality.rawValue), 0, nil)
        case .unsubscribe(let filter): result = library.unsubscribe(client, &request, filter)
        }
        switch mosq_err_t(result) {
        case MOSQ_ERR_SUCCESS: return request
        case MOSQ_ERR_INVAL, MOSQ_ERR_MALFORMED_UTF8, MOSQ_ERR_PAYLOAD_SIZE, MOSQ_ERR_OVERSIZE_PACKET,
            MOSQ_ERR_QOS_NOT_SUPPORTED, MOSQ_ERR_RETAIN_NOT_SUPPORTED, MOSQ_ERR_NOT_SUPPORTED:
            throw MQTTError(
                .invalidMessage, "MQTT \(terms.version) cannot express \(action).",
                cause: MosquittoError(code: result, systemError: 0))
        default: throw lost(mosq_err_t(result))
        }
    }

    private func checkSize(of message: MQTTMessage) throws(MQTTError) {
        let size = message.packetSize(in: terms.version, quality: quality(of: message))
        guard let limit = limits.packetSize, size > limit else { return }
        throw MQTTError(
            .invalidMessage,
            "The broker at \(address) accepts packets of at most \(limit) bytes, but \(message) needs \(size); "
                + "raise the broker's limit.", reason: .packetTooLarge)
    }

    /// Disconnects properly. The broker publishes the will message only if it is delayed, and after its delay.
    func disconnect() {
        _ = library.disconnect_v5(client, willDelay > 0 ? MQTT_RC_DISCONNECT_WITH_WILL_MSG : 0, nil)
    }

    /// Removes and returns the messages that arrived.
    func removeReceived() -> [MQTTEvent] {
        defer { received = [] }
        return received
    }

    /// Removes and returns the acknowledgements that arrived.
    func removeAcknowledgements() -> [Acknowledgement] {
        defer { acknowledgements = [] }
        return acknowledgements
    }

    /// Acknowledges the received packets at once, so that the broker sends the packets that it holds back.
    ///
    /// A broker that sends several small packets holds back all but the first until the client acknowledges it (Nagle's
    /// algorithm, which Debian's broker leaves on). The kernel delays the acknowledgement by 40 ms. The option lasts
    /// only until the kernel resets it (tcp(7), TCP_QUICKACK).
    private func acknowledgeAtOnce(_ socket: Int32) {
        var one: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_QUICKACK, &one, socklen_t(MemoryLayout.size(ofValue: one)))
    }

    private func publish(_ message: MQTTMessage, as request: inout Int32) -> Int32 {
        var properties: OpaquePointer?
        defer { library.property_free_all(&properties) }
        if terms.version == .v5, let id = message.id {
            let result = library.property_add_string_pair(
                &properties, MQTT_PROP_USER_PROPERTY, "id", id)
            guard result == MOSQ_ERR_SUCCESS.rawValue else { return result }
        }
        return message.payload.withUnsafeBytes { payload in
            library.publish_v5(
                client, &request, message.topic, Int32(clamping: payload.count), payload.baseAddress,
                Int32(quality(of: message).rawValue), message.isRetained && retains, properties)
        }
    }

    private func secure(by tls: MQTTTLSSettings) throws(MQTTError) {
        for file in [tls.authorityFile, tls.certificateFile, tls.keyFile].compactMap(\.self)
        where access(file, R_OK) != 0 {
            let reason = MosquittoError(code: MOSQ_ERR_ERRNO.rawValue, systemError: errno)
            throw MQTTError(.invalidSettings, "The file \(file) for TLS cannot be read.", cause: reason)
        }
        let folder = tls.authorityFile == nil ? tls.authorityFolder : nil
        try check(library.tls_set(client, tls.authorityFile, folder, tls.certificateFile, tls.keyFile, nil))
    }

    private func check(_ result: Int32) throws(MQTTError) {
        guard result != MOSQ_ERR_SUCCESS.rawValue else { return }
        throw lost(mosq_err_t(result))
    }

    private func lost(_ result: mosq_err_t) -> MQTTError {
        if let refusal { return refused(refusal) }
        let error = MosquittoError(
            code: result.rawValue, systemError: result == MOSQ_ERR_ERRNO ? errno : 0, tlsMessage: tlsMessage)
        return isAccepted ? error.lossError(options) : error.connectionError(options, on: terms)
    }

    private func refused(_ reason: MQTTReason) -> MQTTError {
        let text = refusalText.map { "\(reason), \"\($0)\"" } ?? "\(reason)"
        let client = "client id \(options.clientID.printable)"
        guard !isAccepted else {
            return MQTTError(
                .connectionLost, "The broker at \(address) ended the connection (\(client)): \(text).", reason: reason)
        }
        let user = options.user.map { "user \($0.printable), \(client)" } ?? "without a user, \(client)"
        let message = "The broker at \(address) refused the connection (\(user)): \(text)."
        switch reason {
        case .badUserNameOrPassword, .notAuthorized:
            // Debian's broker gives the same reason for an unknown user, a wrong password and a missing permission.
            return MQTTError(
                options.user == nil && reason == .notAuthorized ? .notAuthorized : .badCredentials, message,
                reason: reason,
                possibleCauses: options.user == nil
                    ? ["the broker requires a user and a password", "it does not accept this client id"]
                    : [
                        "the broker does not know the user",
                        options.password == nil ? "no password was given" : "the password is wrong",
                        "the user may not connect with this client id",
                    ])
        default: return MQTTError(.connectionRefused, message, reason: reason)
        }
    }

    private var address: String { options.address }
}

/// The callbacks of libmosquitto. The library calls them from within the calls of a session, on the session's thread.
extension MosquittoSession {
    private static func session(_ pointer: UnsafeMutableRawPointer?) -> MosquittoSession? {
        pointer.map { Unmanaged<MosquittoSession>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Sets the callbacks of the client structure.
    private func setCallbacks() {
        library.connect_v5_callback_set(client) { _, pointer, code, _, properties in
            MosquittoSession.session(pointer)?.didAnswerConnection(code, properties)
        }
        library.disconnect_v5_callback_set(client) { _, pointer, code, properties in
            // Codes from 128 on are the broker's reasons; lower ones are the library's own.
            guard let reason = UInt8(exactly: code).map(MQTTReason.init(rawValue:)), reason.isFailure else { return }
            MosquittoSession.session(pointer)?.didRefuse(reason, properties)
        }
        library.publish_v5_callback_set(client) { _, pointer, request, code, _ in
            MosquittoSession.session(pointer)?.didAcknowledge(request, code)
        }
        library.subscribe_v5_callback_set(client) { _, pointer, request, count, granted, _ in
            guard count > 0, let granted else { return }
            MosquittoSession.session(pointer)?.didAcknowledge(request, granted[0])
        }
        library.unsubscribe_v5_callback_set(client) { _, pointer, request, _ in
            MosquittoSession.session(pointer)?.didAcknowledge(request, 0)
        }
        library.message_v5_callback_set(client) { _, pointer, message, properties in
            guard let message = message?.pointee else { return }
            MosquittoSession.session(pointer)?.didReceive(message, properties)
        }
        library.log_callback_set(client) { _, pointer, level, text in
            guard let text else { return }
            MosquittoSession.session(pointer)?.didLog(level, String(cString: text))
        }
    }

    private func didAnswerConnection(_ code: Int32, _ properties: OpaquePointer?) {
        let reason = MQTTReason(connectReturnCode: code)
        guard !reason.isFailure else { return didRefuse(reason, properties) }
        limits = BrokerLimits(properties, by: library)
        isAccepted = true
    }

    private func didRefuse(_ reason: MQTTReason, _ properties: OpaquePointer?) {
        refusal = reason
        var text: UnsafeMutablePointer<CChar>?
        guard library.property_read_string(properties, MQTT_PROP_REASON_STRING, &text, false) != nil, let text else {
            return
        }
        refusalText = String(cString: text).printable.prefix(bytes: 200)
        free(text)
    }

    private func didAcknowledge(_ request: Int32, _ code: Int32) {
        acknowledgements.append(Acknowledgement(request: request, reason: MQTTReason(rawValue: UInt8(clamping: code))))
    }

    private func didReceive(_ message: mosquitto_message, _ properties: OpaquePointer?) {
        guard let topic = message.topic else { return }
        let size = Int(max(message.payloadlen, 0))
        // The library already holds two copies; do not make another one.
        guard size <= MQTTMessage.longestReceived else {
            return received.append(.messageTooLong(topic: String(cString: topic), size: size))
        }
        let payload = UnsafeRawBufferPointer(start: message.payload, count: size)
        received.append(
            .message(
                MQTTMessage(
                    topic: String(cString: topic), payload: Array(payload),
                    qualityOfService: message.qos == 0 ? .atMostOnce : .atLeastOnce, isRetained: message.retain,
                    id: id(in: properties))))
    }

    private func id(in properties: OpaquePointer?) -> String? {
        var found = properties
        var isFirst = true
        while true {
            var name: UnsafeMutablePointer<CChar>?
            var value: UnsafeMutablePointer<CChar>?
            found = library.property_read_string_pair(
                found, MQTT_PROP_USER_PROPERTY, &name, &value, !isFirst)
            guard found != nil, let name, let value else { return nil }
            defer {
                free(name)
                free(value)
            }
            if strcmp(name, "id") == 0 { return String(cString: value) }
            isFirst = false
        }
    }

    private func didLog(_ level: Int32, _ text: String) {
        // The library logs each complete packet.
        hasHeardPacket = true
        // Only this log contains OpenSSL's messages, and only now the connection still has the result of its check.
        if level == MOSQ_LOG_ERR, tlsMessage == nil {
            tlsMessage =
                beacon_mosquitto_refused_certificate(client).map { String(cString: $0) }
                ?? String(text.prefix { !$0.isNewline }).printable
        }
        logger.trace("libmosquitto: \(text)")
    }
}
