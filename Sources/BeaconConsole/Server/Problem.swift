import BeaconEventStore
import BeaconGateway
import BeaconSupport
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// An answer that says what is wrong with a request, in the form of RFC 9457.
struct Problem: HTTPResponseError {
    /// What is wrong with one value of a request.
    struct Fault: Codable, Sendable {
        /// The key of the value.
        var key: String
        /// What is wrong, and what to send instead.
        var detail: String
    }

    var status: HTTPResponse.Status
    /// What is wrong, in a sentence.
    var detail: String
    var errors: [Fault] = []
    var headers: HTTPFields = [:]

    init(_ status: HTTPResponse.Status, _ detail: String, errors: [Fault] = [], headers: HTTPFields = [:]) {
        self.status = status
        self.detail = detail
        self.errors = errors
        self.headers = headers
    }

    /// A problem as it is sent (RFC 9457).
    struct Form: Codable {
        var type = "about:blank"
        var title: String
        var status: Int
        var detail: String
        var errors: [Fault]?
    }

    /// The JSON of the answer.
    var body: Data {
        let form = Form(
            title: status.reasonPhrase, status: status.code, detail: detail, errors: errors.isEmpty ? nil : errors)
        return (try? JSONEncoder.interface.encode(form)) ?? Data("{}".utf8)
    }

    /// The answer.
    var response: Response {
        var headers = headers
        headers[.contentType] = "application/problem+json"
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: body)))
    }

    func response(from request: Request, context: some RequestContext) throws -> Response { response }
}

/// A path that there is, and what can be done with it.
struct RoutePattern: Sendable {
    private var parts: [Substring]
    private(set) var methods: Set<HTTPRequest.Method> = []

    /// Returns the patterns of routes, those without parameters first.
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

    /// Returns true for the parts of a path of this pattern.
    func matches(_ path: [Substring]) -> Bool {
        path.count == parts.count && zip(parts, path).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
    }
}

/// The answer to whatever goes wrong behind it, so that each failure has the one form.
struct ProblemMiddleware: RouterMiddleware {
    /// The methods of each path that there is.
    let methods: Locked<[RoutePattern]>
    /// The log, for what is beacond's own failure.
    let logger: Logger

    func handle(
        _ request: Request, context: WebContext, next: (Request, WebContext) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            // First of all, since which methods there are is no secret.
            let parts = request.uri.path.split(separator: "/")
            let known = methods.withLock { patterns in patterns.first { $0.matches(parts) }?.methods }
            if let known, !known.contains(request.method) { throw Self.wrongMethod(request, known) }
            response = try await next(request, context)
        } catch let problem as Problem {
            response = problem.response
        } catch let error as HTTPError {
            response = Problem(error.status, Self.sentence(for: error, request)).response
        } catch let error as any HTTPResponseError {
            response = Problem(error.status, error.status.reasonPhrase).response
        } catch let error as EventStoreError where error.code.isTemporary {
            logger.warning("\(request.method) \(WebServer.key(request.uri.path).printable): \(error)")
            response =
                Problem(
                    .serviceUnavailable, "beacond could not do this: \(error). Try again later",
                    headers: [.retryAfter: "5"]
                ).response
        } catch {
            // A client that goes away in the middle of its request is no failure of this side's.
            let isOwn = error is EventStoreError
            logger.log(
                level: isOwn ? .warning : .debug,
                "\(request.method) \(WebServer.key(request.uri.path).printable): \(error)")
            response = Problem(.internalServerError, "beacond could not do this: \(error)").response
        }
        // Browsers take nothing from elsewhere, guess no types, and tell nobody what was open.
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
            .methodNotAllowed, "\(request.method.rawValue.printable) is not for this; use \(allowed)",
            headers: [.allow: allowed])
    }

    private static func sentence(for error: HTTPError, _ request: Request) -> String {
        switch error.status {
        case .notFound:
            "there is nothing at \(request.uri.path.printable); v1/openapi.json lists what there is"
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
    /// An answer of JSON.
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        json(bytes: try JSONEncoder.interface.encode(value), status: status)
    }

    /// An answer of JSON that is written already.
    static func json(bytes: some Sequence<UInt8>, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

/// A look at JSON before it is read: its reader takes the square of the depth, and nobody means more than a few levels.
enum JSONDepth {
    /// The deepest that is read.
    private static let most = 32

    /// Refuses JSON that is too deep.
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
    /// Returns the values of a parameter of the query, as browsers write them: a space may be a plus sign.
    func parameters(_ name: String) -> [String] {
        (uri.query ?? "").split(separator: "&").compactMap { pair -> String? in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let words = parts.map { String($0).replacing("+", with: " ") }
            guard let key = words.first?.removingPercentEncoding, key == name else { return nil }
            return words.count == 2 ? words[1].removingPercentEncoding ?? words[1] : ""
        }
    }

    /// Returns the first value of a parameter of the query.
    func parameter(_ name: String) -> String? { parameters(name).first }
}

extension EventStoreError.Code {
    /// True where the same request may succeed later: the disk is full, or another program has the file.
    fileprivate var isTemporary: Bool {
        [.full, .locked, .cannotWrite, .cannotRead, .damaged, .crowded, .conflict].contains(self)
    }
}
