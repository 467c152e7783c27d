/// A JetStream stream used as a log with several writers and readers.
package struct EventLog: Sendable {
    /// The settings of a new log.
    package struct Settings: Hashable, Sendable {
        /// The stream's name: letters, digits, `-` and `_`.
        package var name: String
        /// The subjects whose messages the log holds, with or without wildcards.
        package var subjects: [String]
        /// The age at which messages are removed; nil for never.
        package var maximumAge: Duration?
        /// The number of servers that hold the log: 1, 3 or 5.
        package var replicas: Int
        /// How long the server treats a second message with the same id as a duplicate.
        package var duplicateWindow: Duration
        /// The size above which the oldest messages are removed; nil for no limit.
        package var maximumBytes: Int?

        /// Creates settings.
        package init(
            name: String, subjects: [String], maximumAge: Duration? = nil, replicas: Int = 1,
            duplicateWindow: Duration = .seconds(120), maximumBytes: Int? = nil
        ) {
            self.name = name
            self.subjects = subjects
            self.maximumAge = maximumAge
            self.replicas = replicas
            self.duplicateWindow = duplicateWindow
            self.maximumBytes = maximumBytes
        }
    }

    private let api: StreamAPI

    /// Creates a log on a stream. Create the stream once with ``create(_:)``.
    ///
    /// - Parameter timeout: the longest wait for an answer. While the servers elect a leader, they do not answer.
    package init(_ connection: NATSConnection, name: String, timeout: Duration = .seconds(5)) {
        api = StreamAPI(connection: connection, stream: name, timeout: timeout)
    }

    /// Creates the stream. An existing stream stays as it is, even if its replicas or ages differ. The log's name
    /// replaces the name in the settings.
    ///
    /// - Throws: ``NATSError``: `tooFewServers` if the cluster has too few servers for the replicas; `refused` if a
    ///   stream of this name holds other subjects.
    package func create(_ settings: Settings) async throws(NATSError) {
        let age = settings.maximumAge?.wholeNanoseconds ?? 0
        let window = settings.duplicateWindow.wholeNanoseconds
        try await api.create(
            StreamSettings(
                name: api.stream, subjects: settings.subjects, num_replicas: settings.replicas, max_age: age,
                max_bytes: settings.maximumBytes.map(Int64.init) ?? -1,
                // The server rejects a window that is longer than the age.
                duplicate_window: age > 0 ? min(age, window) : window))
    }

    /// Appends a message, and returns when a majority of the stream's servers have stored it.
    ///
    /// After an error that does not concern the message itself, such as `timedOut` or `notConnected`, the log may or
    /// may not contain the message. Repeat the call with the same id: it appends the message only if it is missing.
    ///
    /// - Parameters:
    ///   - id: the message's id, which no other message has.
    ///   - expected: the last sequence on this subject that the writer knows, 0 for none; nil to append in any case.
    /// - Returns: The message's sequence, and whether the log already contained it.
    /// - Throws: ``NATSError``: `wrongLastSequence` if another message was written to the subject after `expected`.
    package func append(
        _ payload: [UInt8], to subject: String, id: String, after expected: UInt64? = nil
    ) async throws(NATSError) -> (sequence: UInt64, isDuplicate: Bool) {
        do throws(NATSError) {
            let answer = try await api.publish(payload, headers: ["Nats-Msg-Id": id], to: subject, after: expected)
            return (answer.seq ?? 0, answer.duplicate ?? false)
        } catch {
            // A server that has forgotten the id checks the sequence, and so does a cluster that is still storing the
            // first copy. The check fails because of this very message, which then is the next one after `expected`.
            guard error.code == .wrongLastSequence, let expected,
                let next = try await next(of: subject, from: expected + 1), next.id == id
            else { throw error }
            return (next.sequence, true)
        }
    }

    /// Returns the last message of a subject, or nil.
    package func last(of subject: String) async throws(NATSError) -> StoredMessage? {
        try await api.message(MessageQuery(last_by_subj: subject))
    }

    /// Returns the first message, at or after a sequence, whose subject matches a filter, or nil.
    package func next(of filter: String, from sequence: UInt64) async throws(NATSError) -> StoredMessage? {
        try await api.message(MessageQuery(seq: max(1, sequence), next_by_subj: filter))
    }

    /// Returns the version of the server that answers, for example "2.12.1", or "2.10"; nil for one older than 2.10.
    package func serverVersion() async throws(NATSError) -> String? { try await api.serverVersion() }

    /// Returns the stream's last sequence, or 0 if it never had a message.
    package func lastSequence() async throws(NATSError) -> UInt64 { try await api.lastSequence() }
}
