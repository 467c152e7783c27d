import Foundation
import HTTPTypes
import Hummingbird

/// A request with a JSON body, which the handler reads once it has authorized the sender.
struct Sent<Body: Decodable & Sendable>: Sendable {
    var request: Request

    /// Returns the value in the body.
    ///
    /// - Parameter limit: the largest body in bytes.
    /// - Throws: ``Problem`` if the body is too large or not such a value.
    func value(upTo limit: Int = WebContext.largestBody) async throws -> Body {
        var request = request
        let media = request.headers[.contentType]?.split(separator: ";").first.map(String.init) ?? ""
        guard media.lowercased() == "application/json" else {
            throw Problem(.unsupportedMediaType, "send JSON, with the header Content-Type: application/json")
        }
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limit {
            throw HTTPError(.contentTooLarge)
        }
        let body = Data(try await request.collectBody(upTo: limit).readableBytesView)
        try JSONDepth.check(body)
        do {
            return try JSONDecoder().decode(Body.self, from: body)
        } catch DecodingError.keyNotFound(let key, _) {
            throw Problem(
                .unprocessableContent, "\"\(key.stringValue)\" is missing",
                errors: [.init(key: key.stringValue, detail: "is missing")])
        } catch DecodingError.typeMismatch(_, let context) {
            let key = context.codingPath.map(\.stringValue).joined(separator: ".")
            throw Problem(
                .unprocessableContent, "\"\(key)\" is of another type",
                errors: [.init(key: key, detail: "is of another type")])
        } catch {
            throw Problem(.badRequest, "the body is not a JSON object as described in v1/openapi.json")
        }
    }
}
