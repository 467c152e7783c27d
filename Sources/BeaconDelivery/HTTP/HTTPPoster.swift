import AsyncHTTPClient
import BeaconSupport
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// A client that sends POST and GET requests to one address, one at a time, over one connection.
final class HTTPPoster: Sendable {
    private let client: HTTPClient
    private let requestTimeout: Duration
    private let url: String

    /// The maximum number of bytes of a response that are read, so that the connection can be reused.
    private static let maximumResponse = 64 << 10

    /// The maximum number of bytes of a response that are quoted.
    private static let maximumExcerpt = 200

    /// Creates a client, which connects with its first request.
    ///
    /// - Throws: ``SinkError`` if the address or a trusted certificate cannot be used.
    init(url: URL, settings: HTTPSettings) throws(SinkError) {
        guard let scheme = url.scheme?.lowercased(), scheme == "https" || scheme == "http", url.host?.isEmpty == false
        else {
            throw SinkError(.invalidURL, "the address has to begin with https:// or http:// and name a host")
        }
        guard url.user == nil, url.password == nil else {
            throw SinkError(
                .invalidURL,
                "the address has a user name or a password in it. Send them in a header, from a secret")
        }
        guard settings.connectTimeout > .zero, settings.requestTimeout > .zero else {
            throw SinkError(.invalidValue, "a time-out is zero or less; write a longer one")
        }
        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = try Self.trust(settings)
        configuration.redirectConfiguration = .disallow
        // Report an unreachable server at once; the retry policy decides when to try again.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout = HTTPClient.Configuration.Timeout(
            connect: .nanoseconds(settings.connectTimeout.clampedNanoseconds),
            read: .nanoseconds(settings.requestTimeout.clampedNanoseconds))
        if let proxy = settings.proxy {
            configuration.proxy =
                if let username = proxy.username {
                    .server(
                        host: proxy.host, port: proxy.port,
                        authorization: .basic(username: username, password: proxy.password?.reveal() ?? ""))
                } else {
                    .server(host: proxy.host, port: proxy.port)
                }
        }
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        requestTimeout = settings.requestTimeout
        self.url = url.absoluteString
    }

    deinit {
        // The shutdown completes after this call.
        client.shutdown { _ in }
    }

    private static func trust(_ settings: HTTPSettings) throws(SinkError) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        // RFC 8996 deprecates earlier versions, and requests contain secrets.
        configuration.minimumTLSVersion = .tlsv12
        for file in settings.additionalTrustRoots {
            do {
                let certificates = try NIOSSLCertificate.fromPEMFile(file.path)
                guard !certificates.isEmpty else {
                    throw SinkError(.invalidTrustRoots, "\(file.path) contains no certificate in PEM form")
                }
                configuration.additionalTrustRoots.append(.certificates(certificates))
            } catch let error as SinkError {
                throw error
            } catch {
                throw SinkError(
                    .invalidTrustRoots,
                    "\(file.path) cannot be read as certificates in PEM form: \(error). Check that it exists and that "
                        + "this user may read it")
            }
        }
        return configuration
    }

    /// Sends a request and returns its outcome; nil if the task was canceled.
    func post(_ body: Data, headers: HTTPHeaders) async -> DeliveryOutcome? {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers = headers
        request.body = .bytes(ByteBuffer(bytes: body))
        return await send(request).response.outcome
    }

    /// Sends a GET request and returns the response, with its body if that is complete and at most ``largestBody``
    /// bytes long.
    func get(headers: HTTPHeaders) async -> (response: HTTPResponse, body: Data?) {
        var request = HTTPClientRequest(url: url)
        request.headers = headers
        return await send(request, isWanted: true)
    }

    /// The maximum number of bytes of a requested body.
    static let largestBody = 4 << 20

    private func send(
        _ request: HTTPClientRequest, isWanted: Bool = false
    ) async -> (response: HTTPResponse, body: Data?) {
        let deadline = ContinuousClock.now + requestTimeout
        do {
            let response = try await client.execute(
                request, timeout: .nanoseconds(requestTimeout.clampedNanoseconds))
            if isWanted, (200..<300).contains(response.status.code) {
                let body = try await response.body.collect(upTo: Self.largestBody)
                let answer = HTTPResponse.response(status: Int(response.status.code), retryAfter: nil, excerpt: "")
                return (answer, Data(body.readableBytesView))
            }
            let text = try await excerpt(of: response, until: deadline)
            let retryAfter = response.headers.first(name: "Retry-After").flatMap {
                RetryAfter.duration($0, date: response.headers.first(name: "Date"), now: Date())
            }
            return (.response(status: Int(response.status.code), retryAfter: retryAfter, excerpt: text), nil)
        } catch is CancellationError {
            return (.cancelled, nil)
        } catch {
            return (Task.isCancelled ? .cancelled : .failure(Self.reason(for: error)), nil)
        }
    }

    /// Reads a response to its end, up to a limit, and returns its beginning.
    ///
    /// - Throws: An error if the response breaks off, or is not complete in time. The server may not have accepted the
    ///   request then.
    private func excerpt(of response: HTTPClientResponse, until deadline: ContinuousClock.Instant) async throws
        -> String
    {
        var beginning: [UInt8] = []
        var count = 0
        for try await chunk in response.body {
            count += chunk.readableBytes
            beginning += chunk.readableBytesView.prefix(Self.maximumExcerpt - beginning.count)
            if count > Self.maximumResponse { break }
            if ContinuousClock.now > deadline { throw HTTPClientError.deadlineExceeded }
        }
        return String(decoding: beginning, as: UTF8.self).printable.trimmingCharacters(in: .whitespaces)
    }

    /// Returns an error's description for a user. It omits the address, which may be a secret.
    private static func reason(for error: any Error) -> String {
        guard let error = error as? HTTPClientError else {
            if error is NIOSSLError || error is NIOSSLExtraError {
                let causes = [
                    "the server's certificate is from an untrusted issuer, or has expired",
                    "its name differs from the address", "the port does not speak TLS",
                ]
                return "no TLS: \(error). \(causes.asPossibleCauses)"
            }
            if let error = error as? ChannelError, case .connectTimeout = error { return "no connection in time" }
            // A name may have several addresses, each with its own failure.
            let failure = (error as? NIOConnectionError)?.connectionErrors.last?.error ?? error
            if let failure = failure as? IOError {
                return "no connection: \(String(cString: strerror(failure.errnoCode)))"
            }
            return "no connection: \(failure)"
        }
        switch error {
        case .deadlineExceeded, .readTimeout: return "no answer in time"
        case .connectTimeout: return "no connection in time"
        case .remoteConnectionClosed: return "the connection was closed before the answer was complete"
        default: return "the request failed: \(error.shortDescription)"
        }
    }
}
