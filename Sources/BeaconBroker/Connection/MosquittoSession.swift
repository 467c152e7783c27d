import BeaconSupport
import CLibrary
import CMosquitto
import Logging

/// One connection to a broker by libmosquitto, from its beginning to its end.
///
/// It is used on one thread, that of ``ConnectionThread``, and so are the library's callbacks, which run only within
/// those calls. Each connection has a client structure of its own: messages that the library would store for the next
/// connection are sent again by their callers, who received the failure, in order.
final class MosquittoSession {
    /// The broker's acknowledgement of a request.
    struct Acknowledgement {
        var request: Int32
        var reason: MQTTReason
    }

    /// True once the broker has accepted the connection.
    var isAccepted = false

    /// The broker's reason to refuse or end the connection, where it gave one.
    var refusal: MQTTReason?

    /// The first error message of the library or of the TLS library.
    var tlsMessage: String?

    /// The messages that arrived since the last call of ``removeMessages()``.
    var messages: [MQTTMessage] = []

    /// The acknowledgements that arrived since the last call of ``removeAcknowledgements()``.
    var acknowledgements: [Acknowledgement] = []

    let logger: Logger

    private let options: MQTTOptions
    let library: beacon_mosquitto_functions
    let client: OpaquePointer

    init(_ options: MQTTOptions, logger: Logger) throws(MQTTError) {
        var problem: UnsafePointer<CChar>?
        guard let library = beacon_mosquitto_load(&problem)?.pointee else {
            throw MQTTError(
                .failed,
                "Brokers are spoken to by libmosquitto, which cannot be opened: \(problem.map { String(cString: $0) } ?? ""). "
                    + "Install it (Debian: libmosquitto1)")
        }
        guard let client = library.new(options.clientID, true, nil) else {
            throw MQTTError(.failed, "Cannot create a client: there is no memory left, or the client id is not valid.")
        }
        (self.options, self.logger, self.library, self.client) = (options, logger, library, client)
        library.user_data_set(client, Unmanaged.passUnretained(self).toOpaque())
        setCallbacks()
        try check(
            library.int_option(
                client, MOSQ_OPT_PROTOCOL_VERSION,
                options.version == .v5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311))
        // Small packets should not wait for the acknowledgement of others (Nagle's algorithm).
        try check(library.int_option(client, MOSQ_OPT_TCP_NODELAY, 1))
        try check(library.int_option(client, MOSQ_OPT_SEND_MAXIMUM, Int32(clamping: options.maximumInFlight)))
        if let user = options.user {
            try check(library.username_pw_set(client, user, options.password?.reveal()))
        }
        if let tls = options.tls { try secure(by: tls) }
        if let availability = options.availabilityTopic {
            let will = Array(Availability.offline.rawValue.utf8)
            try check(library.will_set(client, availability, Int32(will.count), will, 1, true))
        }
    }

    deinit { library.destroy(client) }

    /// Begins the connection. The call blocks until the broker's machine answers or the attempt fails.
    func connect() throws(MQTTError) {
        errno = 0
        let keepAlive = Int32(clamping: options.keepAlive.components.seconds)
        try check(
            library.connect_bind_v5(
                client, options.host, Int32(options.effectivePort), keepAlive, nil, nil))
    }

    /// Waits for the broker, for the waker or for a time to pass, and then reads and writes without blocking.
    ///
    /// - Throws: ``MQTTError`` where the connection is lost or refused.
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
            try check(library.loop_read(client, 1))
            acknowledgeAtOnce(socket)
        }
        if polled[0].revents & Int16(POLLOUT) != 0 { try check(library.loop_write(client, 1)) }
        try check(library.loop_misc(client))
        if let refusal { throw refused(refusal) }
    }

    /// Begins to send a request.
    ///
    /// - Returns: the number of its acknowledgement.
    /// - Throws: ``MQTTError``: `invalidMessage` where the message is not valid; any other code means that the
    ///   connection is lost.
    func send(_ action: MQTTRequest.Action) throws(MQTTError) -> Int32 {
        var request: Int32 = 0
        let result: Int32
        errno = 0
        switch action {
        case .publish(let message): result = publish(message, as: &request)
        case .subscribe(let filter, let quality):
            // With MQTT 5 a client need not receive its own messages (MQTT 5.0, 3.8.3.1).
            let subscription = options.version == .v5 ? MQTT_SUB_OPT_NO_LOCAL : 0
            result = library.subscribe_v5(
                client, &request, filter, Int32(quality.rawValue), subscription, nil)
        case .unsubscribe(let filter): result = library.unsubscribe(client, &request, filter)
        }
        switch mosq_err_t(result) {
        case MOSQ_ERR_SUCCESS: return request
        case MOSQ_ERR_INVAL, MOSQ_ERR_MALFORMED_UTF8, MOSQ_ERR_PAYLOAD_SIZE, MOSQ_ERR_OVERSIZE_PACKET,
            MOSQ_ERR_QOS_NOT_SUPPORTED, MOSQ_ERR_NOT_SUPPORTED:
            throw MQTTError(
                .invalidMessage, "The message is not valid in the broker's protocol; check its topic and its size.",
                cause: MosquittoError(code: result, systemError: 0))
        default: throw lost(mosq_err_t(result))
        }
    }

    /// Disconnects in order, so that the broker does not publish the last will.
    func disconnect() { _ = library.disconnect_v5(client, 0, nil) }

    /// Removes and returns the messages that arrived.
    func removeMessages() -> [MQTTMessage] {
        defer { messages = [] }
        return messages
    }

    /// Removes and returns the acknowledgements that arrived.
    func removeAcknowledgements() -> [Acknowledgement] {
        defer { acknowledgements = [] }
        return acknowledgements
    }

    /// Sets the socket to acknowledge received packets at once.
    ///
    /// A broker that sends several small packets holds back all but the first until that is acknowledged (Nagle's
    /// algorithm, which Debian's broker leaves on), and the kernel delays the acknowledgement by 40 ms. The option
    /// lasts only until the kernel resets it (tcp(7), TCP_QUICKACK).
    private func acknowledgeAtOnce(_ socket: Int32) {
        var one: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_QUICKACK, &one, socklen_t(MemoryLayout.size(ofValue: one)))
    }

    private func publish(_ message: MQTTMessage, as request: inout Int32) -> Int32 {
        var properties: OpaquePointer?
        defer { library.property_free_all(&properties) }
        if options.version == .v5, let id = message.id {
            let result = library.property_add_string_pair(
                &properties, MQTT_PROP_USER_PROPERTY, "id", id)
            guard result == MOSQ_ERR_SUCCESS.rawValue else { return result }
        }
        return message.payload.withUnsafeBytes { payload in
            library.publish_v5(
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
        return error.connectionError(to: options.address, isSecured: options.tls != nil, isAccepted: isAccepted)
    }

    /// What to say where the broker does not take who connects.
    private var refusedUser: String {
        guard let user = options.user else {
            return "The broker at \(address) asks for a user and a password; give both."
        }
        return "The broker at \(address) does not accept the user \(user) with this password; check both."
    }

    private func refused(_ reason: MQTTReason) -> MQTTError {
        switch reason {
        case .badUserNameOrPassword:
            return MQTTError(.badCredentials, refusedUser, reason: reason)
        case .notAuthorized where !isAccepted:
            // With MQTT 3.1.1, Debian's broker gives this reason for a wrong password.
            return MQTTError(options.user == nil ? .notAuthorized : .badCredentials, refusedUser, reason: reason)
        default:
            return MQTTError(
                isAccepted ? .connectionLost : .connectionRefused,
                "The broker at \(address) \(isAccepted ? "ended" : "refused") the connection: \(reason).",
                reason: reason)
        }
    }

    private var address: String { options.address }
}
