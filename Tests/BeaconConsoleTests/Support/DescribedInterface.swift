import BeaconConsole
import BeaconModel
import Foundation
import HTTPTypes

/// The interface described by v1/openapi.json, which each answer of a ``WebBench`` is compared with.
struct DescribedInterface: Sendable {
    /// A described request: its method and path, and its answers by status.
    struct Operation: Sendable {
        var key: String
        var parts: [Substring]
        var answers: [String: JSONValue]
        /// The accepted bodies by media type.
        var bodies: [String: JSONValue]
        /// The names of the query parameters.
        var queries: Set<String>
        var security: JSONValue?

        /// True if a browser can send it with only the session cookie.
        var isOfConsole: Bool { security == nil }
    }

    /// The values in the events of streams, by event name.
    private static let streamed = [
        "event": "Event", "state": "Changes", "ranging": "Ranging", "found": "FoundReceivers",
    ]

    let operations: [Operation]
    /// The whole description.
    let document: JSONValue

    /// The references without a target.
    let missing: Set<String>

    init(_ text: String) throws {
        let document = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        self.document = document
        missing = document.references.filter { document.referenced(by: $0) == nil }
        operations = document["paths"].values.flatMap { path, methods in
            methods.values.map { method, operation in
                Operation(
                    key: "\(method.uppercased()) \(path)", parts: path.split(separator: "/"),
                    answers: operation["responses"].values, bodies: operation["requestBody"]["content"].values,
                    queries: Set(
                        (operation["parameters"]?.elements ?? []).map { document.resolved($0) }
                            .filter { $0["in"] == "query" }.compactMap { $0["name"]?.text }),
                    security: operation["security"])
            }
        }
    }

    /// Returns the differences between an answer and the description, and the faults of an accepted body. Requests
    /// without a description may have any answer.
    func differences(
        of answer: WebBench.Answer, to method: HTTPRequest.Method, _ path: String, media: String?, body: String?
    ) -> [String] {
        guard let operation = operation(method == .head ? .get : method, path) else { return [] }
        // Any request may have the answer to a failure of beacond.
        let other = answer.status >= 500 ? operation.answers["5XX"] : nil
        guard let described = operation.answers["\(answer.status)"] ?? other else {
            return ["\(operation.key) is answered with \(answer.status)"]
        }
        let sent = body.map { faults(ofBody: $0, media ?? "", to: operation) } ?? []
        if answer.status < 300, !sent.isEmpty { return sent.map { "\(operation.key) takes a body in which \($0)" } }
        let queries = path.drop { $0 != "?" }.dropFirst().split(separator: "&").filter { $0.contains("=") }.map {
            String($0.prefix { $0 != "=" })
        }
        let others = Set(queries).subtracting(operation.queries).subtracting(["token"])
        if answer.status < 300, !others.isEmpty { return ["\(operation.key) takes the parameters \(others)"] }
        if method == .head || answer.status == 304 { return [] }
        let response = document.resolved(described)
        var differences = response["headers"].values.keys.filter { name in
            HTTPField.Name(name).flatMap { answer.headers[$0] } == nil
        }.map { "the header \($0) is missing" }
        let content = response["content"].values
        if let media = answer.headers[.contentType]?.split(separator: ";").first.map(String.init) {
            if let described = content[media] {
                if media == "application/json" || media.hasSuffix("+json"), let schema = described["schema"] {
                    let value = try? JSONDecoder().decode(JSONValue.self, from: Data(answer.body.utf8))
                    differences += faults(of: value ?? "no JSON", schema, at: "the body", isAnswer: true)
                } else if media == "text/event-stream" {
                    differences += faults(ofStream: answer.body)
                }
            } else {
                differences.append("\(media) is not described")
            }
        } else if !content.isEmpty {
            differences.append("there is no content")
        }
        return differences.map { "\(operation.key) \(answer.status): \($0)" }
    }

    /// Returns the operation of a request, preferring paths with the fewest parameters.
    private func operation(_ method: HTTPRequest.Method, _ path: String) -> Operation? {
        let parts = path.prefix { $0 != "?" }.split(separator: "/")
        func parameters(_ operation: Operation) -> Int { operation.parts.count { $0.hasPrefix("{") } }
        return operations.filter { operation in
            operation.key.hasPrefix("\(method.rawValue) ") && operation.parts.count == parts.count
                && zip(operation.parts, parts).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }.min { parameters($0) < parameters($1) }
    }

    private func faults(ofBody body: String, _ media: String, to operation: Operation) -> [String] {
        // Values that are not checked may have any name.
        let isBatch = media.hasSuffix("-batch+json")
        let schema = operation.bodies[media.replacing("-batch+json", with: "+json")]?["schema"]
        guard let schema, media.hasSuffix("json") else { return [] }
        let value = try? JSONDecoder().decode(JSONValue.self, from: Data(body.utf8))
        return faults(
            of: value ?? "no JSON", isBatch ? ["type": "array", "items": schema] : schema, at: "the body",
            isAnswer: false)
    }

    private func faults(ofStream text: String) -> [String] {
        text.components(separatedBy: "\n\n").flatMap { event -> [String] in
            var (name, data) = ("", "")
            for line in event.split(separator: "\n") {
                if line.hasPrefix("event: ") { name = String(line.dropFirst(7)) }
                if line.hasPrefix("data: ") { data += line.dropFirst(6) }
            }
            guard !data.isEmpty else { return [] }
            guard let type = Self.streamed[name] else { return ["an event is called \(name)"] }
            return faults(ofText: data, as: type)
        }
    }

    /// Returns the differences between JSON and a schema of the description.
    func faults(ofText text: String, as component: String) -> [String] {
        let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        return faults(
            of: value ?? "no JSON", ["$ref": .string("#/components/schemas/\(component)")], at: component,
            isAnswer: true)
    }

    // MARK: - JSON Schema, limited to the description's answers

    /// Returns the differences between a value and a schema. An answer has only described keys.
    private func faults(of value: JSONValue, _ reference: JSONValue, at place: String, isAnswer: Bool) -> [String] {
        let schema = document.resolved(reference)
        if let type = schema["type"], !(type.elements ?? [type]).contains(where: { value.isOf($0) }) {
            return ["\(place) is \(value), and not of \(type)"]
        }
        var faults: [String] = []
        func expect(_ isRight: Bool, _ what: String) { if !isRight { faults.append("\(place) is \(value): \(what)") } }
        if let words = schema["enum"]?.elements { expect(words.contains(value), "it is not one of \(words)") }
        if let choices = (schema["anyOf"] ?? schema["oneOf"])?.elements {
            let all = choices.map { self.faults(of: value, $0, at: place, isAnswer: isAnswer) }
            if !all.contains([]) { faults += all.min { $0.count < $1.count } ?? [] }
        }
        let size = value.number ?? (value.elements?.count ?? value.text?.unicodeScalars.count).map(Double.init) ?? 0
        for (key, isLeast) in [
            ("minimum", true), ("minItems", true), ("minLength", true), ("maximum", false), ("maxItems", false),
            ("maxLength", false),
        ] {
            if let bound = schema[key]?.number { expect(isLeast ? size >= bound : size <= bound, "\(key) is \(bound)") }
        }
        if let pattern = schema["pattern"]?.text, let text = value.text {
            expect(text.range(of: pattern, options: .regularExpression) != nil, "\(pattern) does not match")
        }
        for (index, element) in (value.elements ?? []).enumerated() {
            if let items = schema["items"] {
                faults += self.faults(of: element, items, at: "\(place)[\(index)]", isAnswer: isAnswer)
            }
        }
        for key in schema["required"]?.elements ?? [] { expect(value[key.text ?? ""] != nil, "\(key) is missing") }
        for (key, inner) in value.values {
            if let property = schema["properties"]?[key] ?? schema["additionalProperties"] {
                faults += self.faults(of: inner, property, at: "\(place).\(key)", isAnswer: isAnswer)
            } else if isAnswer, schema["properties"] != nil {
                expect(false, "\(key) is not described")
            }
        }
        return faults
    }
}

extension JSONValue {
    /// All references.
    fileprivate var references: Set<String> {
        let inside = (elements ?? Array(values.values)).map(\.references).reduce(into: Set()) { $0.formUnion($1) }
        return inside.union([values["$ref"]?.text].compactMap(\.self))
    }

    /// Returns the target of a reference such as `#/components/schemas/Rule`.
    fileprivate func referenced(by reference: String) -> JSONValue? {
        guard reference.hasPrefix("#/") else { return nil }
        return reference.dropFirst(2).split(separator: "/").reduce(self) { $0?[String($1)] }
    }

    /// Returns the target of a value that is a reference, and other values as they are.
    func resolved(_ value: JSONValue) -> JSONValue {
        guard let reference = value["$ref"]?.text else { return value }
        return referenced(by: reference) ?? ["enum": []]
    }

    subscript(key: String) -> JSONValue? { values[key] }

    var values: [String: JSONValue] { if case .object(let values) = self { values } else { [:] } }

    var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

    var text: String? { if case .string(let text) = self { text } else { nil } }

    fileprivate var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .number(let number): number
        default: nil
        }
    }

    /// Returns true if a value has a type of JSON Schema.
    fileprivate func isOf(_ type: JSONValue) -> Bool {
        switch self {
        case .null: type == "null"
        case .bool: type == "boolean"
        case .integer: type == "integer" || type == "number"
        case .number: type == "number"
        case .string: type == "string"
        case .array: type == "array"
        case .object: type == "object"
        }
    }
}

extension JSONValue? {
    var values: [String: JSONValue] { self?.values ?? [:] }

    subscript(key: String) -> JSONValue? { self?.values[key] }
}
