import BeaconSupport
import Foundation

/// JetStream's API as JSON requests and answers (NATS, "JetStream wire API Reference").
///
/// libnats has functions for it, but their public structures have different layouts in each version.
struct StreamAPI: Sendable {
    /// JetStream's error numbers (nats-server, `server/errors.json`).
    enum Number {
        static let noPeers = 10005
        static let clusterUnavailable = 10008
        static let notLeader = 10009
        static let insufficientResources = 10023
        static let noMessage = 10037
        static let notEnabledForAccount = 10039
        static let nameInUse = 10058
        static let streamNotFound = 10059
        static let wrongLastSequence = 10071
        static let replicasNotSupported = 10074
        static let notEnabled = 10076
        static let storeFailed = 10077
        static let streamOffline = 10118
    }

    let connection: NATSConnection
    let stream: String
    let timeout: Duration

    /// Creates the stream, or accepts an existing one.
    func create(_ settings: StreamSettings) async throws(NATSError) {
        try NATSName.check(stream: stream)
        do throws(NATSError) {
            let _: StreamAnswer = try await ask("CREATE", settings)
        } catch {
            guard error.number == Number.nameInUse else { throw error }
            // The stream exists already, perhaps with slightly different settings.
            let found: StreamAnswer = try await ask("INFO", nil as Nothing?)
            let subjects = found.config?.subjects ?? []
            guard Set(settings.subjects).isSubset(of: subjects) else {
                throw NATSError(
                    .refused,
                    "The stream \(stream) exists for other subjects, \(subjects.joined(separator: ", ").printable); "
                        + "rename or remove it.", number: error.number, cause: error)
            }
        }
    }

    /// Returns the stream's last sequence.
    func lastSequence() async throws(NATSError) -> UInt64 {
        let answer: StreamAnswer = try await ask("INFO", nil as Nothing?)
        return answer.state?.last_seq ?? 0
    }

    /// Returns the server's version; nil if it is older than 2.10. Version 2.10 added the time to this answer, and
    /// version 2.11 its own version.
    func serverVersion() async throws(NATSError) -> String? {
        let answer: StreamAnswer = try await ask("INFO", nil as Nothing?)
        return answer.config?.metadata?["_nats.ver"] ?? answer.ts.map { _ in "2.10" }
    }

    /// Returns a message; nil if it does not exist.
    func message(_ query: MessageQuery) async throws(NATSError) -> StoredMessage? {
        do throws(NATSError) {
            let answer: MessageAnswer = try await ask("MSG.GET", query)
            guard let message = answer.message.flatMap(StoredMessage.init) else { throw unreadable() }
            return message
        } catch {
            guard error.number == Number.noMessage else { throw error }
            return nil
        }
    }

    /// Publishes a message and waits until the stream has stored it.
    ///
    /// - Parameter expected: the last sequence on the subject, 0 for none; nil for any.
    func publish(
        _ payload: [UInt8], headers: [String: String] = [:], to subject: String, after expected: UInt64?
    ) async throws(NATSError) -> PublishAnswer {
        var headers = headers
        // Without this header, a subject of another stream would go unnoticed.
        headers["Nats-Expected-Stream"] = stream
        if let expected { headers["Nats-Expected-Last-Subject-Sequence"] = String(expected) }
        let answer = try await request(payload, headers: headers, to: subject)
        let decoded: PublishAnswer = try decode(answer)
        if let error = decoded.error { throw self.error(error) }
        guard decoded.seq != nil else { throw unreadable() }
        return decoded
    }

    private struct Nothing: Encodable {}

    private func ask<Answer: StreamAPIAnswer>(
        _ operation: String, _ body: (some Encodable)?
    ) async throws(NATSError) -> Answer {
        try NATSName.check(stream: stream)
        var payload: [UInt8] = []
        if let body {
            guard let encoded = try? JSONEncoder().encode(body) else { throw unreadable() }
            payload = Array(encoded)
        }
        let decoded: Answer = try decode(try await request(payload, to: "$JS.API.STREAM.\(operation).\(stream)"))
        if let error = decoded.error { throw self.error(error) }
        return decoded
    }

    private func request(
        _ payload: [UInt8], headers: [String: String] = [:], to subject: String
    ) async throws(NATSError) -> NATSMessage {
        do throws(NATSError) {
            return try await connection.request(payload, headers: headers, to: subject, within: timeout)
        } catch {
            guard error.code == .noResponders else { throw error }
            throw NATSError(
                .noResponders,
                "No server answers for the stream \(stream): JetStream is off, no leader is elected, or the stream "
                    + "does not exist; check the servers' jetstream settings.", cause: error)
        }
    }

    private func decode<Answer: Decodable>(_ message: NATSMessage) throws(NATSError) -> Answer {
        do {
            return try JSONDecoder().decode(Answer.self, from: Data(message.payload))
        } catch {
            throw unreadable(error)
        }
    }

    private func unreadable(_ cause: (any Error)? = nil) -> NATSError {
        NATSError(
            .failed,
            "An answer for the stream \(stream) is not from JetStream; check that no other service answers there.",
            cause: cause)
    }

    private func error(_ error: APIError) -> NATSError {
        let text = error.description?.printable ?? "error \(error.code)"
        let (code, message): (NATSError.Code, String)
        switch error.err_code {
        case Number.wrongLastSequence:
            (code, message) = (.wrongLastSequence, "Another writer wrote to the stream \(stream) first: \(text).")
        case Number.streamNotFound:
            (code, message) = (.notFound, "The stream \(stream) does not exist; create it.")
        case Number.replicasNotSupported, Number.noPeers, Number.insufficientResources:
            (code, message) = (
                .tooFewServers,
                "The servers cannot hold all replicas of the stream \(stream): \(text); start more servers of the "
                    + "cluster, or ask for fewer replicas."
            )
        case Number.clusterUnavailable, Number.notLeader, Number.streamOffline, Number.storeFailed:
            (code, message) = (.unavailable, "The servers cannot serve the stream \(stream) now: \(text).")
        case Number.notEnabled, Number.notEnabledForAccount:
            (code, message) = (
                .refused, "JetStream is off: \(text); turn it on in the servers' configuration, and for the account."
            )
        default:
            (code, message) = (
                error.code == 503 ? .unavailable : .refused,
                "The servers refused a request for the stream \(stream): \(text)."
            )
        }
        return NATSError(code, message, number: error.err_code)
    }
}

/// An answer of JetStream, which may contain an error.
protocol StreamAPIAnswer: Decodable, Sendable {
    var error: APIError? { get }
}

struct APIError: Decodable, Sendable {
    var code: Int
    var err_code: Int?
    var description: String?
}

/// A stream's settings.
struct StreamSettings: Encodable, Sendable {
    var name: String
    var subjects: [String]
    var retention = "limits"
    var storage = "file"
    var discard = "old"
    var num_replicas: Int
    var max_age: Int64 = 0
    var max_bytes: Int64 = -1
    var max_msgs_per_subject: Int64 = -1
    var duplicate_window: Int64
    var deny_delete = false
    var allow_rollup_hdrs = false
}

struct StreamAnswer: StreamAPIAnswer {
    struct Configuration: Decodable, Sendable {
        var subjects: [String]?
        var metadata: [String: String]?
    }

    struct State: Decodable, Sendable {
        var last_seq: UInt64
    }

    var error: APIError?
    var config: Configuration?
    var state: State?
    var ts: String?
}

/// The choice of a message to read.
struct MessageQuery: Encodable, Sendable {
    var seq: UInt64?
    var last_by_subj: String?
    var next_by_subj: String?
}

struct MessageAnswer: StreamAPIAnswer {
    struct Message: Decodable, Sendable {
        var subject: String
        var seq: UInt64
        var hdrs: String?
        var data: String?
        var time: String?
    }

    var error: APIError?
    var message: Message?
}

struct PublishAnswer: StreamAPIAnswer {
    var error: APIError?
    var seq: UInt64?
    var duplicate: Bool?
}

extension Duration {
    /// The duration in whole nanoseconds, the unit of JetStream.
    var wholeNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }
}
