import BeaconDelivery
import CMosquitto
import Glibc
import Logging

/// One connection to a broker, from its beginning to its end, by libmosquitto.
///
/// It belongs to one thread, that of ``ConnectionThread``, which alone calls it, and so do the library's callbacks, which
/// come only from within those calls. Each connection has a client structure of its own: what the library would keep for
/// the next is what callers, who were told of the failure, send again themselves, in order.
final class MosquittoSession {
    /// What the broker said to a request.
    struct Answer {
        var request: Int32
        var reason: MQTTReason
    }

    /// Whether the broker took the connection.
    var isAccepted = false

    /// Why the broker ended the connection, where it said so.
    var refusal: MQTTReason?

    /// What the library, or the one for TLS, complained of first.
    var complaint: String?

    /// What came and was not taken yet.
    var messages: [MQTTMessage] = []

    /// What was answered and not taken yet.
    var answers: [Answer] = []

    let logger: Logger

    private let options: MQTTOptions
    let client: OpaquePointer

    /// The library is set up once for the process, and never taken down, since other parts of it may use it too.
    private static let library: Int32 = mosquitto_lib_init()

    init(_ options: MQTTOptions, logger: Logger) throws(MQTTError) {
        _ = Self.library
        guard let client = mosquitto_new(options.clientID, true, nil) else {
            throw MQTTError(.failed, "There is no memory for a connection.")
        }
        (self.options, self.logger, self.client) = (options, logger, client)
        mosquitto_user_data_set(client, Unmanaged.passUnretained(self).toOpaque())
        setCallbacks()
        try check(
            mosquitto_int_option(
                client, MOSQ_OPT_PROTOCOL_VERSION,
                options.version == .v5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311))
        // Small packets are not to wait for the acknowledgement of others (Nagle's algorithm).
        try check(mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1))
        try check(mosquitto_int_option(client, MOSQ_OPT_SEND_MAXIMUM, Int32(clamping: options.maximumInFlight)))
        if let user = options.user {
            try check(mosquitto_username_pw_set(client, user, options.password?.reveal()))
        }
        if let tls = options.tls { try secure(by: tls) }
        if let availability = options.availabilityTopic {
            let will = Array(Availability.offline.rawValue.utf8)
            try check(mosquitto_will_set(client, availability, Int32(will.count), will, 1, true))
        }
    }

    deinit { mosquitto_destroy(client) }

    /// Begins the connection. Blocks until the broker's machine answers, or does not.
    func connect() throws(MQTTError) {
        errno = 0
        let keepAlive = Int32(clamping: options.keepAlive.components.seconds)
        try check(
            mosquitto_connect_bind_v5(
                client, options.host, Int32(options.effectivePort), keepAlive, nil, nil))
    }

    /// Waits for the broker, for a signal or for time to pass, and then reads and writes what there is.
    func step(_ wakeUp: WakeUp, atMost duration: Duration) throws(MQTTError) {
        let socket = mosquitto_socket(client)
        guard socket >= 0 else { throw lost(MOSQ_ERR_CONN_LOST) }
        let write = mosquitto_want_write(client) ? Int16(POLLOUT) : 0
        var polled = [
            pollfd(fd: socket, events: Int16(POLLIN) | write, revents: 0),
            pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        poll(&polled, 2, duration.wholeMilliseconds)
        if polled[1].revents != 0 { wakeUp.reset() }
        errno = 0
        if polled[0].revents & ~Int16(POLLOUT) != 0 {
            try check(mosquitto_loop_read(client, 1))
            acknowledgeAtOnce(socket)
        }
        if polled[0].revents & Int16(POLLOUT) != 0 { try check(mosquitto_loop_write(client, 1)) }
        try check(mosquitto_loop_misc(client))
        if let refusal { throw refused(refusal) }
    }

    /// Begins to send something.
    ///
    /// - Returns: the number that its answer will have.
    /// - Throws: where it cannot be sent as it is, an ``MQTTError`` of the code `invalidMessage`; any other error means
    ///   that the connection is lost.
    func send(_ action: MQTTRequest.Action) throws(MQTTError) -> Int32 {
        var request: Int32 = 0
        let result: Int32
        errno = 0
        switch action {
        case .publish(let message): result = publish(message, as: &request)
        case .subscribe(let filter, let quality):
            // With MQTT 5 a client need not hear itself (MQTT 5.0, 3.8.3.1).
            let subscription = options.version == .v5 ? Int32(MQTT_SUB_OPT_NO_LOCAL.rawValue) : 0
            result = mosquitto_subscribe_v5(
                client, &request, filter, Int32(quality.rawValue), subscription, nil)
        case .unsubscribe(let filter): result = mosquitto_unsubscribe(client, &request, filter)
        }
        switch mosq_err_t(result) {
        case MOSQ_ERR_SUCCESS: return request
        case MOSQ_ERR_INVAL, MOSQ_ERR_MALFORMED_UTF8, MOSQ_ERR_PAYLOAD_SIZE, MOSQ_ERR_OVERSIZE_PACKET,
            MOSQ_ERR_QOS_NOT_SUPPORTED, MOSQ_ERR_NOT_SUPPORTED:
            throw MQTTError(
                .invalidMessage, "The broker's protocol has no such message; check its topic and its size.",
                cause: MosquittoError(code: result, systemError: 0))
        default: throw lost(mosq_err_t(result))
        }
    }

    /// Tells the broker that this is the end, which keeps the will to itself.
    func disconnect() { mosquitto_disconnect_v5(client, 0, nil) }

    /// The messages that came since it was last asked.
    func takeMessages() -> [MQTTMessage] {
        defer { messages = [] }
        return messages
    }

    /// The answers that came since it was last asked.
    func takeAnswers() -> [Answer] {
        defer { answers = [] }
        return answers
    }

    /// A broker that sends several small packets holds all but the first back until that is acknowledged (Nagle's
    /// algorithm, which Debian's broker leaves on), and this system would put the acknowledgement off for 40 ms. The option
    /// holds only until the system thinks otherwise (tcp(7), TCP_QUICKACK).
    private func acknowledgeAtOnce(_ socket: Int32) {
        var one: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_QUICKACK, &one, socklen_t(MemoryLayout.size(ofValue: one)))
    }

    private func publish(_ message: MQTTMessage, as request: inout Int32) -> Int32 {
        var properties: OpaquePointer?
        defer { mosquitto_property_free_all(&properties) }
        if options.version == .v5, let id = message.id {
            let result = mosquitto_property_add_string_pair(
                &properties, Int32(MQTT_PROP_USER_PROPERTY.rawValue), "id", id)
            guard result == MOSQ_ERR_SUCCESS.rawValue else { return result }
        }
        return message.payload.withUnsafeBytes { payload in
            mosquitto_publish_v5(
                client, &request, message.topic, Int32(clamping: payload.count), payload.baseAddress,
                Int32(message.qualityOfService.rawValue), message.isRetained, properties)
        }
    }

    private func secure(by tls: MQTTTLSOptions) throws(MQTTError) {
        for file in [tls.authorityFile, tls.certificateFile, tls.keyFile].compactMap(\.self)
        where access(file, R_OK) != 0 {
            let reason = MosquittoError(code: MOSQ_ERR_ERRNO.rawValue, systemError: errno)
            throw MQTTError(.invalidOptions, "The file \(file) for TLS cannot be read.", cause: reason)
        }
        let folder = tls.authorityFile == nil ? tls.authorityFolder : nil
        try check(mosquitto_tls_set(client, tls.authorityFile, folder, tls.certificateFile, tls.keyFile, nil))
    }

    private func check(_ result: Int32) throws(MQTTError) {
        guard result != MOSQ_ERR_SUCCESS.rawValue else { return }
        throw lost(mosq_err_t(result))
    }

    private func lost(_ result: mosq_err_t) -> MQTTError {
        if let refusal { return refused(refusal) }
        let error = MosquittoError(
            code: result.rawValue, systemError: result == MOSQ_ERR_ERRNO ? errno : 0, complaint: complaint)
        return error.connectionError(to: place, isSecured: options.tls != nil, isAccepted: isAccepted)
    }

    private func refused(_ reason: MQTTReason) -> MQTTError {
        switch reason {
        case .badUserNameOrPassword:
            return MQTTError(
                .badCredentials,
                "The broker at \(place) does not know the user \(options.user ?? "(none)") with this password.",
                reason: reason)
        case .notAuthorized where !isAccepted:
            // Debian's broker says so to a wrong password where MQTT 3.1.1 is spoken.
            return MQTTError(
                options.user == nil ? .notAuthorized : .badCredentials,
                "The broker at \(place) lets the user \(options.user ?? "(none)") not connect; check user and password.",
                reason: reason)
        default:
            return MQTTError(
                isAccepted ? .connectionLost : .connectionRefused,
                "The broker at \(place) \(isAccepted ? "ended" : "refused") the connection: \(reason).", reason: reason)
        }
    }

    private var place: String { options.place }
}
