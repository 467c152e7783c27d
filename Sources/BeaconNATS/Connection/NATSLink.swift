import BeaconSupport
import CLibrary
import CNATS

/// One libnats connection to one server, from its beginning to its end.
///
/// It does not use the library's own reconnection. The library gives up after two refusals of credentials and does not
/// say why an attempt failed. It also stores messages published while disconnected, and sends them later, when the
/// adverts are stale.
///
/// It is `@unchecked` because of the library's pointers. The library's functions lock a connection, so any thread may
/// call them. The connection is freed with the last reference to this object. Only one thread uses a subscription's
/// pointer: the thread that removes it from the locked table frees it. All other mutable state is set only by the
/// initializer.
final class NATSLink: @unchecked Sendable {
    /// The longest wait for a server to accept a connection, in milliseconds.
    private static let connectionTimeout: Int64 = 2000

    /// The interval of pings. After two unanswered pings the third one ends the connection: within 15 s.
    private static let pingInterval: Int64 = 5000
    private static let pings: Int32 = 2

    /// The longest wait of a write for a server that does not read, in milliseconds.
    private static let writeDeadline: Int64 = 1000

    private static let links = CallbackTable<NATSLink>()
    private static let deliveries = CallbackTable<NATSSubscription>()

    /// A notice from the library other than a message.
    enum Note: Sendable {
        case ended
        case dropped(NATSSubscription)
        case refused(NATSError)
    }

    private struct Delivery {
        /// The library's subscription pointer as a number, because locks accept only sendable values.
        let bits: UInt
        let number: UInt
        let subscription: NATSSubscription

        var pointer: OpaquePointer? { OpaquePointer(bitPattern: bits) }
    }

    private struct State {
        var end: NATSLibraryError?
        var hasEnded = false
        var deliveries: [ObjectIdentifier: Delivery] = [:]
    }

    let address: NATSAddress
    private let functions: UnsafePointer<beacon_nats_functions>
    private let report: @Sendable (Note) -> Void
    private let state = Locked(State())
    private var number: UInt = 0
    private var connection: OpaquePointer?

    /// Throws an error if the library is missing.
    static func checkLibrary() throws(NATSError) { _ = try functions() }

    private static func functions() throws(NATSError) -> UnsafePointer<beacon_nats_functions> {
        var problem: UnsafePointer<CChar>?
        guard let functions = beacon_nats_load(&problem) else {
            throw NATSError(
                .libraryMissing,
                "NATS needs libnats, which cannot be opened: \(problem.map { String(cString: $0) } ?? ""). "
                    + "Install it (Debian 12: libnats3.4, Debian 13: libnats3.10)")
        }
        return functions
    }

    /// Connects, and returns when the server accepts or the attempt fails.
    init(
        _ address: NATSAddress, _ options: NATSSettings, report: @escaping @Sendable (Note) -> Void
    ) throws(NATSError) {
        functions = try Self.functions()
        self.address = address
        self.report = report
        number = Self.links.insert(self)
        do throws(NATSError) {
            try connect(options)
        } catch {
            Self.links.remove(number)
            throw error
        }
    }

    deinit { if let connection { functions.pointee.natsConnection_Destroy(connection) } }

    private func connect(_ options: NATSSettings) throws(NATSError) {
        let library = functions.pointee
        var settings: OpaquePointer?
        guard library.natsOptions_Create(&settings) == NATS_OK, let settings else {
            throw NATSError(.failed, "Cannot prepare a connection: there is no memory left.")
        }
        defer { library.natsOptions_Destroy(settings) }
        try check(library.natsOptions_SetURL(settings, address.url))
        try check(library.natsOptions_SetName(settings, options.name))
        try check(library.natsOptions_SetTimeout(settings, Self.connectionTimeout))
        try check(library.natsOptions_SetPingInterval(settings, Self.pingInterval))
        try check(library.natsOptions_SetMaxPingsOut(settings, Self.pings))
        try check(library.natsOptions_SetWriteDeadline(settings, Self.writeDeadline))
        try check(library.natsOptions_SetAllowReconnect(settings, false))
        if let user = options.user {
            try check(library.natsOptions_SetUserInfo(settings, user, options.password?.reveal() ?? ""))
        }
        if let token = options.token { try check(library.natsOptions_SetToken(settings, token.reveal())) }
        if let file = options.credentialsFile {
            try check(reading: file, library.natsOptions_SetUserCredentialsFromFiles(settings, file, nil))
        }
        if address.isSecured { try secure(settings, options) }
        let context = CallbackTable<NATSLink>.context(number)
        try check(
            library.natsOptions_SetClosedCB(
                settings,
                { _, context in
                    let number = CallbackTable<NATSLink>.number(context)
                    NATSLink.links.owner(of: number)?.didEnd()
                }, context))
        try check(
            library.natsOptions_SetErrorHandler(
                settings,
                { _, subscription, status, context in
                    let number = CallbackTable<NATSLink>.number(context)
                    NATSLink.links.owner(of: number)?.didFail(status, subscription)
                }, context))
        var connection: OpaquePointer?
        let status = library.natsConnection_Connect(&connection, settings)
        guard status == NATS_OK, let connection else { throw lastError(status).connectionError(to: address) }
        self.connection = connection
    }

    private func secure(_ settings: OpaquePointer, _ options: NATSSettings) throws(NATSError) {
        let library = functions.pointee
        try check(library.natsOptions_SetSecure(settings, true))
        try check(library.natsOptions_SetExpectedHostname(settings, address.certifiedHost))
        if let file = options.authorityFile {
            try check(reading: file, library.natsOptions_LoadCATrustedCertificates(settings, file))
        }
        if let file = options.certificateFile, let key = options.keyFile {
            try check(reading: file, library.natsOptions_LoadCertificatesChain(settings, file, key))
        }
    }

    /// Whether the connection has ended or is no longer usable.
    var hasEnded: Bool {
        state.withLock { $0.hasEnded }
    }

    /// The reason why the connection ended.
    var end: NATSError? { state.withLock { $0.end }.map { $0.endError(of: address) } }

    /// Ends the connection if a background write failed. Later data would be read as part of the failed write.
    func checkWrites() {
        guard let error = connectionError() else { return }
        switch error.status {
        case NATS_TIMEOUT, NATS_IO_ERROR, NATS_SSL_ERROR: abandon(error)
        default: break
        }
    }

    /// Disconnects. After this no messages are delivered and no events are reported.
    func close() {
        Self.links.remove(number)
        let deliveries = state.withLock { state in
            defer { state.deliveries = [:] }
            state.hasEnded = true
            return Array(state.deliveries.values)
        }
        for delivery in deliveries {
            Self.deliveries.remove(delivery.number)
            delivery.subscription.setNumber(nil)
        }
        if let connection { functions.pointee.natsConnection_Close(connection) }
        for delivery in deliveries { free(delivery) }
    }

    // MARK: Messages

    /// Publishes a message.
    func publish(_ payload: [UInt8], to subject: String) throws(NATSError) {
        guard let connection else { throw .notConnected }
        let status = payload.withUnsafeBytes { bytes in
            functions.pointee.natsConnection_Publish(
                connection, subject, bytes.baseAddress, Int32(clamping: bytes.count))
        }
        try checkPublished(status, payload.count)
    }

    /// Publishes a message with headers and a reply subject.
    func publish(
        _ payload: [UInt8], headers: [String: String], to subject: String, reply: String
    ) throws(NATSError) {
        guard let connection else { throw .notConnected }
        let library = functions.pointee
        var message: OpaquePointer?
        var status = payload.withUnsafeBytes { bytes in
            library.natsMsg_Create(
                &message, subject, reply, bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                Int32(clamping: bytes.count))
        }
        guard status == NATS_OK, let message else { throw NATSError(.failed, "There is no memory left for a message.") }
        defer { library.natsMsg_Destroy(message) }
        for (name, value) in headers where status == NATS_OK {
            status = library.natsMsgHeader_Set(message, name, value)
        }
        if status == NATS_OK { status = library.natsConnection_PublishMsg(connection, message) }
        try checkPublished(status, payload.count)
    }

    private func checkPublished(_ status: natsStatus, _ count: Int) throws(NATSError) {
        switch status {
        case NATS_OK: return
        case NATS_MAX_PAYLOAD:
            throw NATSError(
                .invalidMessage,
                "A message of \(count) bytes is larger than the server accepts; send less, or raise its max_payload.",
                cause: lastError(status))
        case NATS_CONNECTION_CLOSED: throw .notConnected
        default:
            let error = lastError(status)
            abandon(error)
            throw error.endError(of: address)
        }
    }

    /// Subscribes on the server, unless the subscription was canceled.
    func subscribe(_ subscription: NATSSubscription) throws(NATSError) {
        guard let connection else { throw .notConnected }
        let library = functions.pointee
        let status = state.withLock { state -> natsStatus in
            let id = ObjectIdentifier(subscription)
            guard !state.hasEnded, state.deliveries[id] == nil, !subscription.isCancelled else { return NATS_OK }
            let number = Self.deliveries.insert(subscription)
            subscription.setNumber(number)
            var pointer: OpaquePointer?
            let status = library.natsConnection_Subscribe(
                &pointer, connection, subscription.subject,
                { _, _, message, context in
                    if let message { NATSLink.didReceive(message, CallbackTable<NATSSubscription>.number(context)) }
                }, CallbackTable<NATSSubscription>.context(number))
            guard status == NATS_OK, let pointer else {
                Self.deliveries.remove(number)
                return status
            }
            _ = library.natsSubscription_SetPendingLimits(
                pointer, Int32(clamping: max(1, subscription.limit.messages)),
                Int32(clamping: max(1, subscription.limit.bytes)))
            state.deliveries[id] = Delivery(bits: UInt(bitPattern: pointer), number: number, subscription: subscription)
            return status
        }
        guard status != NATS_OK else { return }
        let error = lastError(status)
        abandon(error)
        throw error.endError(of: address)
    }

    /// Ends a subscription.
    func unsubscribe(_ subscription: NATSSubscription) {
        state.withLock { state in
            guard let delivery = state.deliveries.removeValue(forKey: ObjectIdentifier(subscription)) else { return }
            Self.deliveries.remove(delivery.number)
            free(delivery)
        }
    }

    private func free(_ delivery: Delivery) {
        if let pointer = delivery.pointer { functions.pointee.natsSubscription_Destroy(pointer) }
    }

    // MARK: Callbacks

    private static func didReceive(_ message: OpaquePointer, _ number: UInt) {
        var problem: UnsafePointer<CChar>?
        guard let functions = beacon_nats_load(&problem) else { return }
        defer { functions.pointee.natsMsg_Destroy(message) }
        guard let subscription = deliveries.owner(of: number),
            let subject = functions.pointee.natsMsg_GetSubject(message)
        else { return }
        let count = Int(max(0, functions.pointee.natsMsg_GetDataLength(message)))
        let payload = UnsafeRawBufferPointer(start: functions.pointee.natsMsg_GetData(message), count: count)
        subscription.deliver(
            NATSMessage(
                subject: String(cString: subject), payload: Array(payload), headers: headers(of: message, functions),
                reply: functions.pointee.natsMsg_GetReply(message).map { String(cString: $0) }),
            number: number)
    }

    private static func headers(
        of message: OpaquePointer, _ functions: UnsafePointer<beacon_nats_functions>
    ) -> [String: String] {
        var names: UnsafeMutablePointer<UnsafePointer<CChar>?>?
        var count: Int32 = 0
        guard functions.pointee.natsMsgHeader_Keys(message, &names, &count) == NATS_OK, let names else { return [:] }
        defer { CLibrary.free(names) }
        var headers: [String: String] = [:]
        for index in 0..<Int(max(0, count)) {
            guard let name = names[index] else { continue }
            var value: UnsafePointer<CChar>?
            guard functions.pointee.natsMsgHeader_Get(message, name, &value) == NATS_OK, let value else { continue }
            headers[String(cString: name)] = String(cString: value)
        }
        return headers
    }

    private func didEnd() {
        let error = connectionError()
        state.withLock { state in
            if state.end == nil { state.end = error }
            state.hasEnded = true
        }
        report(.ended)
    }

    private func didFail(_ status: natsStatus, _ subscription: OpaquePointer?) {
        switch status {
        case NATS_SLOW_CONSUMER:
            // The library does not keep the subscription alive during this call, so only compare the pointer.
            let bits = UInt(bitPattern: subscription)
            let slow = state.withLock { state in state.deliveries.values.first { $0.bits == bits }?.subscription }
            if let slow { report(.dropped(slow)) }
        case NATS_NOT_PERMITTED:
            report(
                .refused(
                    NATSError(
                        .notAuthorized,
                        "The server at \(address.title) does not permit the request; grant the user the permission.",
                        cause: lastError(status))))
        default: break
        }
    }

    // MARK: Errors

    private func abandon(_ error: NATSLibraryError) {
        let isFirst = state.withLock { state in
            defer { state.hasEnded = true }
            if state.end == nil { state.end = error }
            return !state.hasEnded
        }
        if isFirst { report(.ended) }
    }

    private func connectionError() -> NATSLibraryError? {
        guard let connection else { return nil }
        var text: UnsafePointer<CChar>?
        let status = functions.pointee.natsConnection_GetLastError(connection, &text)
        return status == NATS_OK ? nil : NATSLibraryError(status, text.map { String(cString: $0) })
    }

    /// Returns the error of this thread's last call.
    private func lastError(_ status: natsStatus) -> NATSLibraryError {
        var last = NATS_OK
        let text = functions.pointee.nats_GetLastError(&last)
        return NATSLibraryError(status, last == status ? text.map { String(cString: $0) } : nil)
    }

    private func check(_ status: natsStatus) throws(NATSError) {
        guard status != NATS_OK else { return }
        throw NATSError(
            .invalidSettings, "The settings for \(address.title) are not valid; check names and files.",
            cause: lastError(status))
    }

    private func check(reading file: String, _ status: natsStatus) throws(NATSError) {
        guard status != NATS_OK else { return }
        throw NATSError(
            .invalidSettings, "The file \(file) for NATS cannot be used; check that it exists, and check its content.",
            cause: lastError(status))
    }
}
