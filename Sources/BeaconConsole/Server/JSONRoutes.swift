import BeaconSupport
import Foundation
import HTTPTypes
import Hummingbird

/// An answer without a body, with status 204.
struct Nothing: Encodable, Sendable {}

extension RouterGroup<WebContext> {
    /// Adds a request that is answered with a value as JSON. `openapi.json` describes it.
    func on<Answer: Encodable & Sendable>(
        _ method: HTTPRequest.Method, _ path: String, status: HTTPResponse.Status = .ok,
        handler: @escaping @Sendable (Request, WebContext) async throws -> Answer
    ) {
        respond(method, path) { request, context in
            let answer = try await handler(request, context)
            return answer is Nothing ? Response(status: .noContent) : try Response.json(answer, status: status)
        }
    }

    /// Adds a request whose handler makes the response. `openapi.json` describes it.
    func respond(
        _ method: HTTPRequest.Method, _ path: String,
        handler: @escaping @Sendable (Request, WebContext) async throws -> Response
    ) { on(RouterPath(path), method: method, use: handler) }
}

extension Request {
    /// Returns the value in a JSON body. Call this after the sender is authorized.
    ///
    /// - Parameter limit: the largest body in bytes.
    /// - Throws: ``Problem`` if the body is too large or not such a value.
    func value<Body: Decodable>(of type: Body.Type, upTo limit: Int = WebContext.largestBody) async throws -> Body {
        let media = headers[.contentType]?.split(separator: ";").first.map(String.init) ?? ""
        guard media.lowercased() == "application/json" else {
            throw Problem(.unsupportedMediaType, "send JSON, with the header Content-Type: application/json")
        }
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > limit {
            throw HTTPError(.contentTooLarge)
        }
        var request = self
        let body = Data(try await request.collectBody(upTo: limit).readableBytesView)
        return try Body.decoded(
            from: body, else: "the body is not a JSON object as described in v1/openapi.json")
    }
}

extension Decodable {
    /// Decodes the JSON of a request.
    ///
    /// - Throws: ``Problem``, which names the faulty value, or has a description of anything else.
    static func decoded(from body: Data, else description: String) throws -> Self {
        func problem(_ path: [any CodingKey], _ what: String) -> Problem {
            let key = path.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
            let start = String(decoding: key.utf8.prefix(200), as: UTF8.self)
            return Problem(.unprocessableContent, key: start.printable, what)
        }
        try JSONDepth.check(body)
        do {
            return try JSONDecoder().decode(Self.self, from: body)
        } catch DecodingError.keyNotFound(let key, let context) {
            throw problem(context.codingPath + [key], "is missing")
        } catch DecodingError.typeMismatch(_, let context) {
            let isWhole = context.codingPath.isEmpty
            throw problem(context.codingPath, isWhole ? "is not a JSON object" : "is of another type")
        } catch DecodingError.valueNotFound(_, let context) where !context.codingPath.isEmpty {
            throw problem(context.codingPath, "is null")
        } catch {
            throw Problem(.badRequest, description)
        }
    }
}
