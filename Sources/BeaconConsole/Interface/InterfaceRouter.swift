import HTTPTypes
import Hummingbird

/// A request with a body of JSON, which its handler reads once it knows who sent it.
struct Sent<Body: Decodable & Sendable>: Sendable {
    var request: Request

    /// Returns the body.
    ///
    /// - Parameter limit: the most bytes of it.
    /// - Throws: ``Problem`` where it is too large, or no such value.
    func value(upTo limit: Int = WebContext.largestBody) async throws -> Body {
        var request = request
        return try await request.value(Body.self, upTo: limit)
    }
}

/// An answer without a body (204).
struct Nothing: Codable, Sendable {}

/// The routes of the interface, each with its description. The types of bodies and answers are those of the handlers.
struct InterfaceRouter {
    /// An operation with its route and types.
    struct Described {
        var method: HTTPRequest.Method
        var path: String
        var operation: Operation
        var status: HTTPResponse.Status
        /// The type of the body; nil for a request without one, or with one that is no JSON of a type.
        var body: (any Decodable.Type)?
        /// The type of the answer; nil for one without a body, or with one that is no JSON of a type.
        var answer: (any Decodable.Type)?
    }

    /// The operations so far, of all groups of routes.
    final class Description {
        fileprivate(set) var operations: [Described] = []
    }

    private let group: RouterGroup<WebContext>
    private let prefix: String
    private let description: Description

    init(_ group: RouterGroup<WebContext>, prefix: String, description: Description) {
        (self.group, self.prefix, self.description) = (group, prefix, description)
    }

    /// Adds a request without a body, or with one that is no JSON, which is answered with a value.
    func on<Answer: Codable & Sendable>(
        _ method: HTTPRequest.Method, _ path: String, _ operation: Operation, status: HTTPResponse.Status = .ok,
        handler: @escaping @Sendable (Request, WebContext) async throws -> Answer
    ) {
        add(method, path, operation, status, nil, Answer.self) { request, context in
            try Self.response(try await handler(request, context), status)
        }
    }

    /// Adds a request with a body of JSON, which is answered with a value.
    func on<Body, Answer: Codable & Sendable>(
        _ method: HTTPRequest.Method, _ path: String, _ operation: Operation, status: HTTPResponse.Status = .ok,
        handler: @escaping @Sendable (Sent<Body>, WebContext) async throws -> Answer
    ) {
        add(method, path, operation, status, Body.self, Answer.self) { request, context in
            try Self.response(try await handler(Sent(request: request), context), status)
        }
    }

    /// Adds a request without a body of JSON, whose answer the handler writes itself.
    ///
    /// - Parameter value: the type that it writes; nil for what is no JSON.
    func answer(
        _ method: HTTPRequest.Method, _ path: String, _ operation: Operation, status: HTTPResponse.Status = .ok,
        as value: (any Decodable.Type)? = nil,
        handler: @escaping @Sendable (Request, WebContext) async throws -> Response
    ) { add(method, path, operation, status, nil, value, handler) }

    /// Adds a request with a body of JSON, whose answer the handler writes itself.
    func answer<Body>(
        _ method: HTTPRequest.Method, _ path: String, _ operation: Operation, status: HTTPResponse.Status = .ok,
        handler: @escaping @Sendable (Sent<Body>, WebContext) async throws -> Response
    ) {
        add(method, path, operation, status, Body.self, nil) { try await handler(Sent(request: $0), $1) }
    }

    private func add(
        _ method: HTTPRequest.Method, _ path: String, _ operation: Operation, _ status: HTTPResponse.Status,
        _ body: (any Decodable.Type)?, _ answer: (any Decodable.Type)?,
        _ handler: @escaping @Sendable (Request, WebContext) async throws -> Response
    ) {
        note(method, path, operation, status, body, answer)
        group.on(RouterPath(path), method: method, use: handler)
    }

    private func note(
        _ method: HTTPRequest.Method, _ path: String, _ operation: Operation, _ status: HTTPResponse.Status,
        _ body: (any Decodable.Type)?, _ answer: (any Decodable.Type)?
    ) {
        description.operations.append(
            Described(
                method: method, path: "\(prefix)/\(path)", operation: operation, status: status, body: body,
                answer: answer == Nothing.self ? nil : answer))
    }

    private static func response<Answer: Encodable>(_ answer: Answer, _ status: HTTPResponse.Status) throws -> Response
    {
        answer is Nothing ? Response(status: status) : try Response.json(answer, status: status)
    }
}

extension InterfaceRouter {
    /// Adds the description itself, of all operations so far and its own.
    func describe(at path: String, _ operation: Operation) {
        note(.get, path, operation, .ok, nil, nil)
        let bytes = InterfaceDocument(description.operations).bytes
        group.on(RouterPath(path), method: .get) { _, _ in Response.json(bytes: bytes) }
    }
}

extension InterfaceRouter.Described {
    /// The answers with a problem: those that follow from the form of the request, and its own.
    var problems: [ProblemAnswer] {
        var problems: Set<ProblemAnswer> = [.forbidden, .otherHost, .other]
        if case .console = operation.security { problems.insert(.noToken) }
        if !operation.parameters.isEmpty { problems.insert(.invalid) }
        if path.contains("{") { problems.insert(.unknown) }
        if body != nil || !operation.bodies.isEmpty {
            problems.formUnion([.invalid, .tooLarge, .otherType, .badValue])
        }
        let own = Set(operation.errors.map(\.status))
        return problems.subtracting(operation.exceptions).filter { !own.contains($0.status) } + operation.errors
    }
}
