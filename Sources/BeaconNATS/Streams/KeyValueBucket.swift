/// A bucket of keys and values, readable with the standard NATS tools (NATS ADR-8).
package struct KeyValueBucket: Sendable {
    /// A key with its value.
    package struct Entry: Hashable, Sendable {
        /// The key.
        package var key: String
        /// The value.
        package var value: [UInt8]
        /// The revision, which grows with each change in the bucket.
        package var revision: UInt64

        /// Creates an entry.
        package init(key: String, value: [UInt8], revision: UInt64) {
            self.key = key
            self.value = value
            self.revision = revision
        }
    }

    private let api: StreamAPI
    private let subjects: String

    /// Creates a bucket with a name of letters, digits, `-` and `_`. Create its stream once with
    /// ``create(timeToLive:replicas:)``.
    ///
    /// - Parameter timeout: the longest wait for an answer. While the servers elect a leader, they do not answer.
    package init(_ connection: NATSConnection, bucket: String, timeout: Duration = .seconds(5)) {
        api = StreamAPI(connection: connection, stream: "KV_" + bucket, timeout: timeout)
        subjects = "$KV.\(bucket)."
    }

    /// Creates the bucket on the servers. An existing bucket stays as it is.
    ///
    /// - Parameters:
    ///   - timeToLive: the time after which the server removes a value that was not written again; nil for never.
    ///   - replicas: the number of servers that hold the bucket: 1, 3 or 5.
    /// - Throws: ``NATSError``: `tooFewServers` if the cluster has too few servers for the replicas.
    package func create(timeToLive: Duration? = nil, replicas: Int = 1) async throws(NATSError) {
        let age = timeToLive?.wholeNanoseconds ?? 0
        // Two minutes is the server's default. It rejects a window that is longer than the age.
        let window = Duration.seconds(120).wholeNanoseconds
        try await api.create(
            StreamSettings(
                name: api.stream, subjects: [subjects + ">"], discard: "new", num_replicas: replicas, max_age: age,
                max_msgs_per_subject: 1, duplicate_window: age > 0 ? min(age, window) : window, deny_delete: true,
                allow_rollup_hdrs: true))
    }

    /// Returns a key with its value; nil if it does not exist, was removed or has expired.
    package func get(_ key: String) async throws(NATSError) -> Entry? {
        try NATSName.check(key: key)
        guard let last = try await api.message(MessageQuery(last_by_subj: subjects + key)), !last.isRemoval else {
            return nil
        }
        return entry(last)
    }

    /// Writes a value, and replaces an existing one.
    ///
    /// - Returns: The new revision.
    @discardableResult
    package func put(_ value: [UInt8], for key: String) async throws(NATSError) -> UInt64 {
        try await write(value, for: key, after: nil)
    }

    /// Writes a value if the key has none.
    ///
    /// - Returns: The new revision.
    /// - Throws: ``NATSError``: `wrongLastSequence` if the key has a value.
    @discardableResult
    package func add(_ value: [UInt8], for key: String) async throws(NATSError) -> UInt64 {
        do throws(NATSError) {
            return try await write(value, for: key, after: 0)
        } catch {
            guard error.code == .wrongLastSequence,
                let last = try await api.message(MessageQuery(last_by_subj: subjects + key)), last.isRemoval
            else { throw error }
            return try await write(value, for: key, after: last.sequence)
        }
    }

    /// Writes a value if the key still has a revision.
    ///
    /// - Returns: The new revision.
    /// - Throws: ``NATSError``: `wrongLastSequence` if the key has another revision or no value.
    @discardableResult
    package func replace(
        _ value: [UInt8], for key: String, at revision: UInt64
    ) async throws(NATSError) -> UInt64 {
        try await write(value, for: key, after: revision)
    }

    /// Removes a key and its value. A key that does not exist is no error.
    ///
    /// - Parameter revision: the revision that the key must have; nil for any.
    /// - Throws: ``NATSError``: `wrongLastSequence` if the key has another revision.
    package func remove(_ key: String, at revision: UInt64? = nil) async throws(NATSError) {
        try NATSName.check(key: key)
        _ = try await api.publish([], headers: ["KV-Operation": "DEL"], to: subjects + key, after: revision)
    }

    /// Returns the keys below a prefix, such as `a.b` and `a.c.d` below `a`, with their values, in the order in which
    /// they were written.
    ///
    /// It reads the entries one by one. Changes made during the call may or may not be included.
    ///
    /// - Parameter prefix: the key above the wanted ones; an empty string for all keys.
    package func entries(under prefix: String = "") async throws(NATSError) -> [Entry] {
        if !prefix.isEmpty { try NATSName.check(key: prefix) }
        let filter = subjects + (prefix.isEmpty ? ">" : prefix + ".>")
        var entries: [String: Entry] = [:]
        var sequence: UInt64 = 1
        while let message = try await api.message(MessageQuery(seq: sequence, next_by_subj: filter)) {
            sequence = message.sequence + 1
            let entry = entry(message)
            // An entry that was written again during the call appears twice; the later one counts.
            entries[entry.key] = message.isRemoval ? nil : entry
        }
        return entries.values.sorted { $0.revision < $1.revision }
    }

    private func write(_ value: [UInt8], for key: String, after expected: UInt64?) async throws(NATSError) -> UInt64 {
        try NATSName.check(key: key)
        return try await api.publish(value, to: subjects + key, after: expected).seq ?? 0
    }

    private func entry(_ message: StoredMessage) -> Entry {
        Entry(
            key: String(message.subject.dropFirst(subjects.count)), value: message.payload, revision: message.sequence)
    }
}
