import BeaconNATS
import BeaconSupport
import Foundation
import TestSupport

/// A recorder of a connection's events and a subscription's messages.
final class Recorder: Sendable {
    private let reported = Locked<[NATSConnection.Event]>([])
    private let received = Locked<[NATSMessage]>([])

    /// The names of the events, in order.
    var events: [String] {
        reported.withLock { $0 }.map { event in
            switch event {
            case .connected: "connected"
            case .disconnected: "disconnected"
            case .failed: "failed"
            case .refused: "refused"
            case .dropped(let subject): "dropped \(subject)"
            case .closed: "closed"
            }
        }
    }

    /// The errors of the events, in order.
    var errors: [NATSError] {
        reported.withLock { $0 }.compactMap { event in
            switch event {
            case .failed(let error), .refused(let error), .disconnected(.some(let error)): error
            default: nil
            }
        }
    }

    var messages: [NATSMessage] { received.withLock { $0 } }

    /// The texts of the messages.
    var texts: [String] { messages.map { String(decoding: $0.payload, as: UTF8.self) } }

    func record(_ event: NATSConnection.Event) { reported.withLock { $0.append(event) } }

    func receive(_ message: NATSMessage) { received.withLock { $0.append(message) } }
}

extension NATSConnection {
    /// Creates a connection whose events go to a recorder.
    convenience init(_ url: String, _ recorder: Recorder = Recorder()) throws {
        let options = try NATSSettings(url)
        try self.init(options, report: recorder.record)
    }

    /// Creates a connection to running servers, and waits until it is connected.
    static func made(_ url: String, _ recorder: Recorder = Recorder()) async throws -> NATSConnection {
        let connection = try NATSConnection(url, recorder)
        try await eventually("it is connected") { connection.isConnected }
        return connection
    }

    /// Publishes a text.
    func publish(_ text: String, to subject: String) throws { try publish(Array(text.utf8), to: subject) }

    /// Waits until the server has read everything that this connection sent before.
    func settle() async throws {
        let subject = "settled.\(UUID().uuidString)"
        let settled = Recorder()
        let subscription = try subscribe(subject, receive: settled.receive)
        defer { subscription.cancel() }
        try publish("", to: subject)
        try await eventually("the server has read it") { !settled.messages.isEmpty }
    }
}

/// Repeats a closure that fails temporarily, for example while servers elect a leader.
func persistently<Result>(_ body: () async throws -> Result) async throws -> Result {
    let end = ContinuousClock.now + .hang
    while true {
        do {
            return try await body()
        } catch let error as NATSError {
            guard error.isTransient || error.code == .tooFewServers, ContinuousClock.now < end else { throw error }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
