import BeaconSupport
import HTTPTypes
import Hummingbird

/// An answer without a body, with status 204.
struct Nothing: Codable, Sendable {}

/// The routes of the interface, each with its description. The handlers' types are the types of bodies and answers.
struct InterfaceRouter {
    /// An operation with its route and types.
    struct Described: Sendable {
        var method: HTTPRequest.Method
        var path: String
        var operation: Operation
        var status: HTTPResponse.Status
        /// The type of the body, or nil without a body of typed JSON.
        var body: (any (Decodable & Sendable).Type)?
        /// The type of the answer, or nil without an answer of typed JSON.
        var answer: (any (Decodable & Sendable).Type)?
    }

    /// The operations that all groups of routes have added until now.
    final class Description {
        fileprivate(set) var operations: [Described] = []
    }

    private let group: RouterGroup<WebContext>
    private let prefix: String
    private let description: Description

    init(_ group: RouterGroup<WebContext>, prefix: String, description: Description) {
        (self.group, self.prefix, self.description) = (group, prefix, description)
    }

    /// Adds a request without a JSON body that is answered with a value.
    func on<Answer: Codable & Sendable>(
        _ method: HTTPRequest.Method, _ path: String, _ operation: Operation, status: HTTPResponse.Status? = nil,
        handler: @escaping @Sendable (Request, WebContext) async throws -> Answer
    ) {
        let status = status ?? Self.status(of: Answer.self)
        add(method, path, operation, status, nil, Answer.self) { request, context in
            try Self.response(try await handler(request, context), status)
        }
    }

    /// Adds a request with a JSON body that is answered with a value.
    func on<Body, Answer: Codable & Sendable>(
        _ method: HTTPRequest.Method, _ path: String, _ operation: Operation, status: HTTPResponse.Status? = nil,
        handler: @escaping @Sendable (Sent<Body>, WebContext) async throws -> Answer
    ) {
        let status = status ?? Self.status(of: Answer.self)
        add(method, path, operation, status, Body.self, Answer.self) { request, context in
            try Self.response(try await handler(Sent(request: request), context), status)
        }
    }

    /// Adds a request without a JSON body whose handler makes the response itself.
    ///
    /// - Parameter value: the type of the response's JSON, or nil for other content.
    func respond(
        _ method: HTTPRequest.Method, _ path: String, _ operation: Operation, status: HTTPResponse.Status = .ok,
        as value: (any (Decodable & Sendable).Type)? = nil,
        handler: @escaping @Sendable (Request, WebContext) async throws -> Response
    ) { add(method, path, operation, status, nil, value, handler) }

    /// Adds a request with a JSON body whose handler makes the response itself.
    func respond<Body>(
        _ method: HTTPRequest.Method, _ path: String, _ operation: Operation, status: HTTPResponse.Status = .ok,
        handler: @escaping @Sendable (Sent<Body>, WebContext) async throws -> Response
    ) {
        add(method, path, operation, status, Body.self, nil) { try await handler(Sent(request: $0), $1) }
    }

    private func add(
        _ method: HTTPRequest.Method, _ path: String, _ operation: Operation, _ status: HTTPResponse.Status,
        _ body: (any (Decodable & Sendable).Type)?, _ answer: (any (Decodable & Sendable).Type)?,
        _ handler: @escaping @Sendable (Request, WebContext) async throws -> Response
    ) {
        note(method, path, operation, status, body, answer)
        group.on(RouterPath(path), method: method, use: handler)
    }

    private func note(
        _ method: HTTPRequest.Method, _ path: String, _ operation: Operation, _ status: HTTPResponse.Status,
        _ body: (any (Decodable & Sendable).Type)?, _ answer: (any (Decodable & Sendable).Type)?
    ) {
        description.operations.append(
            Described(
                method: method, path: "\(prefix)/\(path)", operation: operation, status: status, body: body,
                answer: answer == Nothing.self ? nil : answer))
    }

    private static func status<Answer>(of type: Answer.Type) -> HTTPResponse.Status {
        type == Nothing.self ? .noContent : .ok
    }

    private static func response<Answer: Encodable>(_ answer: Answer, _ status: HTTPResponse.Status) throws -> Response
    {
        answer is Nothing ? Response(status: status) : try Response.json(answer, status: status)
    }
}

extension InterfaceRouter {
    /// Adds the route of the description itself, which has all operations added until now and its own.
    func describe(at path: String, _ operation: Operation) {
        note(.get, path, operation, .ok, nil, nil)
        let operations = description.operations
        // The first request creates the description, which is then kept.
        let written = Locked<[UInt8]?>(nil)
        group.on(RouterPath(path), method: .get) { _, _ in
            let bytes = written.withLock { written in
                let bytes = written ?? InterfaceDocument(operations).bytes
                written = bytes
                return bytes
            }
            return Response.json(bytes: bytes)
        }
    }
}

extension InterfaceRouter.Described {
    /// The problem answers: the ones that follow from the form of the request, and the operation's own.
    var problems: [ProblemAnswer] {
        var problems: Set<ProblemAnswer> = [.forbidden, .other]
        if operation.security.isOfBrowsers { problems.insert(.otherHost) }
        if case .console = operation.security { problems.insert(.noToken) }
        if !operation.parameters.isEmpty { problems.insert(.invalid) }
        if path.contains("{") { problems.insert(.unknown) }
        if body != nil || !operation.bodies.isEmpty {
            problems.formUnion([.invalid, .tooLarge, .otherType, .badValue])
        }
        let own = Set(operation.errors.map(\.status))
        return problems.subtracting(operation.omitted).filter { !own.contains($0.status) } + operation.errors
    }
}
