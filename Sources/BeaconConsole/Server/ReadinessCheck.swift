import AsyncHTTPClient
package import BeaconGateway
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

/// A question to a running beacond: whether it hears.
package struct ReadinessCheck: Sendable {
    /// The time that it may take to answer.
    private static let patience = TimeAmount.seconds(5)

    private let address: String

    /// Creates the question to the beacond of a console.
    package init(_ settings: WebSettings) {
        var settings = settings
        // What listens on all addresses is asked by this machine's own.
        if settings.host == "0.0.0.0" { settings.host = "127.0.0.1" }
        if settings.host == "::" { settings.host = "::1" }
        address = settings.address + "v1/ready"
    }

    /// What keeps beacond from hearing.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        /// What it is, and where to look.
        public var description: String
    }

    /// Asks.
    ///
    /// - Throws: ``Failure`` where nobody answers, or beacond does not hear.
    package func run() async throws(Failure) {
        var configuration = HTTPClient.Configuration()
        // The certificate is for the names by which others come; all that is learnt is a yes or a no.
        configuration.tlsConfiguration = .makeClientConfiguration()
        configuration.tlsConfiguration?.certificateVerification = .none
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let answer: Result<HTTPClientResponse, any Error>
        let body: ByteBuffer?
        do {
            let response = try await client.execute(HTTPClientRequest(url: address), timeout: Self.patience)
            body = try await response.body.collect(upTo: 64 << 10)
            answer = .success(response)
        } catch {
            body = nil
            answer = .failure(error)
        }
        try? await client.shutdown()
        switch answer {
        case .failure(let error):
            throw Failure(description: "beacond does not answer at \(address) (\(error)); does it run, with this file?")
        case .success(let response) where response.status == .ok: return
        case .success(let response):
            let problem = body.flatMap { try? JSONDecoder().decode(Answer.self, from: Data($0.readableBytesView)) }
            throw Failure(description: problem?.detail ?? "beacond answers \(response.status.code) at \(address)")
        }
    }

    private struct Answer: Decodable {
        var detail: String
    }
}
