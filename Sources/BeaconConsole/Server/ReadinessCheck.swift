import AsyncHTTPClient
package import BeaconGateway
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

/// A check whether a running beacond is ready.
package struct ReadinessCheck: Sendable {
    /// The timeout of the check.
    private static let patience = TimeAmount.seconds(5)

    private let address: String

    /// Creates the check for the beacond of a console.
    package init(_ settings: WebSettings) {
        var settings = settings
        // If it listens on all addresses, use the loopback address.
        if settings.host == "0.0.0.0" { settings.host = "127.0.0.1" }
        if settings.host == "::" { settings.host = "::1" }
        address = settings.address + "v1/ready"
    }

    /// The reason why beacond is not ready.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        /// The reason, and where to look.
        public var description: String
    }

    /// Runs the check.
    ///
    /// - Throws: ``Failure`` if beacond does not answer, or is not ready.
    package func run() async throws(Failure) {
        var configuration = HTTPClient.Configuration()
        // The certificate is issued for the console's public names, and the check learns only a yes or a no.
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
            throw Failure(
                description:
                    "beacond does not answer at \(address) (\(error)); is it running with this configuration file?")
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
