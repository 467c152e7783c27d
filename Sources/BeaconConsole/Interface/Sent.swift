import Foundation
import HTTPTypes
import Hummingbird

/// A request with a body of JSON, which its handler reads once it knows who sent it.
struct Sent<Body: Decodable & Sendable>: Sendable {
    var request: Request

    /// Returns the value that the body holds.
    ///
    /// - Parameter limit: the most bytes of it.
    /// - Throws: ``Problem`` where it is too large, or no such value.
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
            throw Problem(.badRequest, "the body is no JSON object as v1/openapi.json describes it")
        }
    }
}
