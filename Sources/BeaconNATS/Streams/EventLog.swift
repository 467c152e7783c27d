/// A stream of JetStream as a log that several write to and read from.
package struct EventLog: Sendable {
    /// What a log is made with.
    package struct Settings: Hashable, Sendable {
        /// The stream's name: letters, digits, `-` and `_`.
        package var name: String
        /// The subjects whose messages it holds, with or without wildcards.
        package var subjects: [String]
        /// The age after which messages go; nil for never.
        package var maximumAge: Duration?
        /// The number of servers that hold it: 1, 3 or 5.
        package var replicas: Int
        /// The time for which a second message of one id is taken for the first.
        package var duplicateWindow: Duration
        /// The size beyond which the oldest messages go; nil for none.
        package var maximumBytes: Int?

        /// Settings with defaults.
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

    /// The log in a stream, which has to be created once.
    ///
    /// - Parameter timeout: the longest wait for an answer. While the servers elect a leader, those that ask get none.
    package init(_ connection: NATSConnection, name: String, timeout: Duration = .seconds(5)) {
        api = StreamAPI(connection: connection, stream: name, timeout: timeout)
    }

    /// Creates the stream. One that is there already, whoever made it, is left as it is, also where its replicas or its
    /// ages differ. The name in the settings is replaced by this log's.
    ///
    /// - Throws: ``NATSError``: `tooFewServers` where the servers cannot hold it as often as asked; `refused` where a
    ///   stream of this name holds other subjects.
    package func create(_ settings: Settings) async throws(NATSError) {
        let age = settings.maximumAge?.wholeNanoseconds ?? 0
        let window = settings.duplicateWindow.wholeNanoseconds
        try await api.create(
            StreamSettings(
                name: api.stream, subjects: settings.subjects, num_replicas: settings.replicas, max_age: age,
                max_bytes: settings.maximumBytes.map(Int64.init) ?? -1,
                // The server does not take one that is longer than the age.
                duplicate_window: age > 0 ? min(age, window) : window))
    }

    /// Appends a message, and returns when the stream has it, on most of its servers.
    ///
    /// After an error that says nothing of the message itself, such as `timedOut` or `notConnected`, it may be there or
    /// not; the same call again, with the same id, finds out and appends it once.
    ///
    /// - Parameters:
    ///   - id: the message's id, which no other message has.
    ///   - expected: the last sequence on this subject that the writer knows of, 0 for none; nil where it does not
    ///     matter.
    /// - Returns: its sequence, and whether it was there before.
    /// - Throws: ``NATSError``: `wrongLastSequence` where somebody else wrote to the subject since.
    package func append(
        _ payload: [UInt8], to subject: String, id: String, after expected: UInt64? = nil
    ) async throws(NATSError) -> (sequence: UInt64, isDuplicate: Bool) {
        do throws(NATSError) {
            let answer = try await api.publish(payload, headers: ["Nats-Msg-Id": id], to: subject, after: expected)
            return (answer.seq ?? 0, answer.duplicate ?? false)
        } catch {
            // A server that has forgotten the id, or a cluster that is still about to store the first of two, looks at
            // the sequence, and that is wrong because of this very message. It is the next one then, whatever followed.
            guard error.code == .wrongLastSequence, let expected,
                let next = try await next(of: subject, from: expected + 1), next.id == id
            else { throw error }
            return (next.sequence, true)
        }
    }

    /// Returns the last message of a subject; nil where there is none.
    package func last(of subject: String) async throws(NATSError) -> StoredMessage? {
        try await api.message(MessageQuery(last_by_subj: subject))
    }

    /// Returns the first message from a sequence on whose subject matches a filter; nil where there is none yet.
    package func next(of filter: String, from sequence: UInt64) async throws(NATSError) -> StoredMessage? {
        try await api.message(MessageQuery(seq: max(1, sequence), next_by_subj: filter))
    }

    /// Returns the last sequence that the stream gave, 0 where it never had a message.
    package func lastSequence() async throws(NATSError) -> UInt64 { try await api.lastSequence() }
}
