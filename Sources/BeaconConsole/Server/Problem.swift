import BeaconDelivery
import BeaconEventStore
import BeaconGateway
import BeaconSupport
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1

/// An error response with a description of the problem (RFC 9457).
struct Problem: HTTPResponseError {
    /// A fault in one value of a request.
    struct Fault: Codable, Sendable {
        /// The key of the value.
        var key: String
        /// The fault, and what to send instead.
        var detail: String
    }

    var status: HTTPResponse.Status
    /// The description of the problem, in one sentence.
    var detail: String
    var errors: [Fault] = []
    var headers: HTTPFields = [:]

    init(_ status: HTTPResponse.Status, _ detail: String, errors: [Fault] = [], headers: HTTPFields = [:]) {
        self.status = status
        self.detail = detail
        self.errors = errors
        self.headers = headers
    }

    /// Creates the problem of one value of a request: `"KEY" FAULT`, or a sentence about it.
    init(_ status: HTTPResponse.Status, _ sentence: String? = nil, key: String, _ fault: String) {
        self.init(status, sentence ?? "\"\(key)\" \(fault)", errors: [Fault(key: key, detail: fault)])
    }

    /// The JSON form of a problem (RFC 9457).
    struct Form: Codable {
        var type = "about:blank"
        var title: String
        var status: Int
        var detail: String
        var errors: [Fault]?
    }

    /// The JSON of the response.
    var body: Data {
        let form = Form(
            title: status.reasonPhrase, status: status.code, detail: detail, errors: errors.isEmpty ? nil : errors)
        return (try? JSONEncoder.sorted.encode(form)) ?? Data("{}".utf8)
    }

    /// The response.
    var response: Response {
        var headers = headers
        headers[.contentType] = "application/problem+json"
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: body)))
    }

    func response(from request: Request, context: some RequestContext) throws -> Response { response }
}

/// A known path, and the methods that it supports.
struct RoutePattern: Sendable {
    private var parts: [Substring]
    private(set) var methods: Set<HTTPRequest.Method> = []

    /// Returns the patterns of routes, sorted by their number of parameters.
    static func patterns(_ routes: [(path: String, method: HTTPRequest.Method)]) -> [RoutePattern] {
        var patterns: [String: RoutePattern] = [:]
        for route in routes {
            let key = WebServer.key(route.path)
            var pattern = patterns[key] ?? RoutePattern(parts: key.split(separator: "/"))
            pattern.methods.insert(route.method)
            if route.method == .get { pattern.methods.insert(.head) }
            patterns[key] = pattern
        }
        return patterns.values.sorted { $0.parameterCount < $1.parameterCount }
    }

    private var parameterCount: Int { parts.count { $0.hasPrefix("{") } }

    /// Returns true if the parts of a path match this pattern.
    func matches(_ path: [Substring]) -> Bool {
        path.count == parts.count && zip(parts, path).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
    }
}

/// The middleware that turns every error of a later handler into a problem response.
struct ProblemMiddleware: RouterMiddleware {
    /// The known paths with their methods.
    let methods: Locked<[RoutePattern]>
    /// The log for failures of beacond itself.
    let logger: Logger

    func handle(
        _ request: Request, context: WebContext, next: (Request, WebContext) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            // Check the method before the authorization, since the supported methods are no secret.
            let parts = request.uri.path.split(separator: "/")
            let known = methods.withLock { patterns in patterns.first { $0.matches(parts) }?.methods }
            if let known, !known.contains(request.method) { throw Self.wrongMethod(request, known) }
            response = try await next(request, context)
        } catch let problem as Problem {
            response = problem.response
        } catch let error as HTTPError {
            response = Problem(error.status, Self.sentence(for: error, request)).response
        } catch is HTTPParserError {
            response = Problem(.badRequest, "the request is malformed; check the lengths of its chunks").response
        } catch let error as any HTTPResponseError {
            response = Problem(error.status, error.status.reasonPhrase).response
        } catch let error as EventStoreError where error.code.isTemporary {
            logger.warning("\(request.method) \(WebServer.key(request.uri.path).printable): \(error)")
            response =
                Problem(
                    .serviceUnavailable, "beacond cannot do this: \(error). Try again later",
                    headers: [.retryAfter: "5"]
                ).response
        } catch is CancellationError {
            response =
                Problem(
                    .serviceUnavailable, "beacond is ending; send it again later", headers: [.retryAfter: "5"]
                ).response
        } catch {
            // A client that disconnects during its request is not a failure of beacond.
            let isOwn = error is EventStoreError
            logger.log(
                level: isOwn ? .warning : .debug,
                "\(request.method) \(WebServer.key(request.uri.path).printable): \(error)")
            response = Problem(.internalServerError, "beacond cannot do this: \(error)").response
        }
        // Browsers load nothing from other sites, guess no media types, and send no referrer.
        response.headers[.contentSecurityPolicy] =
            response.headers[.contentSecurityPolicy]
            ?? "default-src 'self'; img-src 'self' data:; frame-ancestors 'self'; base-uri 'none'; form-action 'self'"
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.referrerPolicy] = "no-referrer"
        return response
    }

    private static func wrongMethod(_ request: Request, _ methods: Set<HTTPRequest.Method>) -> Problem {
        let allowed = methods.map(\.rawValue).sorted().joined(separator: ", ")
        return Problem(
            .methodNotAllowed, "\(request.method.rawValue.printable) is not supported here; use \(allowed)",
            headers: [.allow: allowed])
    }

    private static func sentence(for error: HTTPError, _ request: Request) -> String {
        switch error.status {
        case .notFound:
            "nothing exists at \(request.uri.path.printable); v1/openapi.json lists all paths"
        case .contentTooLarge: "the request is too large"
        default: error.body ?? error.status.reasonPhrase
        }
    }
}

extension HTTPField.Name {
    static let referrerPolicy = HTTPField.Name("Referrer-Policy") ?? .accept
    static let forwardedHost = HTTPField.Name("X-Forwarded-Host") ?? .accept
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site") ?? .accept
    static let consoleRequest = HTTPField.Name("X-Beacon-Console") ?? .accept
    static let accelBuffering = HTTPField.Name("X-Accel-Buffering") ?? .accept
}

extension Response {
    /// Returns a response with JSON.
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        json(bytes: try JSONEncoder.sorted.encode(value), status: status)
    }

    /// Returns a response with encoded JSON.
    static func json(bytes: some Sequence<UInt8>, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

/// A check of the nesting depth of JSON before decoding.
///
/// The decoder's time grows with the square of the depth, and real requests have only a few levels.
enum JSONDepth {
    /// The deepest nesting that is accepted.
    private static let most = 32

    /// Refuses JSON that is nested too deeply.
    ///
    /// - Throws: ``Problem``.
    static func check(_ json: Data) throws {
        var (depth, isText, isEscaped) = (0, false, false)
        for byte in json {
            if isEscaped {
                isEscaped = false
            } else if isText {
                if byte == UInt8(ascii: "\\") { isEscaped = true }
                if byte == UInt8(ascii: "\"") { isText = false }
            } else {
                switch byte {
                case UInt8(ascii: "\""): isText = true
                case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
                case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
                default: break
                }
                if depth > most { throw Problem(.badRequest, "the body has more than \(most) levels of JSON") }
            }
        }
    }
}

extension Request {
    /// Returns the values of a query parameter, as browsers encode them: a plus sign can stand for a space.
    func parameters(_ name: String) -> [String] {
        (uri.query ?? "").split(separator: "&").compactMap { pair -> String? in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let words = parts.map { String($0).replacing("+", with: " ") }
            guard let key = words.first?.removingPercentEncoding, key == name else { return nil }
            return words.count == 2 ? words[1].removingPercentEncoding ?? words[1] : ""
        }
    }

    /// Returns the first value of a query parameter.
    func parameter(_ name: String) -> String? { parameters(name).first }
}

extension EventStoreError.Code {
    /// True if the same request may succeed later, for example because the disk is full, another program locks the
    /// file, no descriptor is left, or beacond is ending.
    fileprivate var isTemporary: Bool {
        [
            .full, .locked, .cannotOpen, .cannotWrite, .cannotRead, .damaged, .crowded, .conflict, .closed, .cancelled,
        ].contains(self)
    }
}
