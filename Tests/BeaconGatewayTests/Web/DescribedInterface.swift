import BeaconModel
import Foundation
import HTTPTypes

/// The interface as v1/openapi.json describes it, with which each answer of a ``WebBench`` is compared.
struct DescribedInterface: Sendable {
    /// A request that is described: its method and path, and the answers by their status.
    struct Operation: Sendable {
        var key: String
        var parts: [Substring]
        var answers: [String: JSONValue]
    }

    let operations: [Operation]
    /// All that the description refers to.
    let components: JSONValue

    init(_ text: String) throws {
        let document = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        components = document["components"] ?? [:]
        operations = document["paths"].values.flatMap { path, methods in
            methods.values.map { method, operation in
                Operation(
                    key: "\(method.uppercased()) \(path)", parts: path.split(separator: "/"),
                    answers: operation["responses"].values)
            }
        }
    }

    /// Returns what an answer has that the description has not, and what it lacks. A request that is not described has
    /// any answer.
    func differences(of answer: WebBench.Answer, to method: HTTPRequest.Method, _ path: String) -> [String] {
        guard let operation = operation(method, path) else { return [] }
        guard let described = operation.answers["\(answer.status)"] ?? operation.answers["default"] else {
            return ["\(operation.key) is answered with \(answer.status)"]
        }
        let response = resolved(described)
        var differences = response["headers"].values.keys.filter { name in
            HTTPField.Name(name).flatMap { answer.headers[$0] } == nil
        }.map { "the header \($0) is missing" }
        let content = response["content"].values
        if let media = answer.headers[.contentType]?.split(separator: ";").first.map(String.init) {
            if let described = content[media] {
                if media == "application/json" || media.hasSuffix("+json"), let schema = described["schema"] {
                    let value = try? JSONDecoder().decode(JSONValue.self, from: Data(answer.body.utf8))
                    differences += faults(of: value ?? "no JSON", schema, at: "the body")
                }
            } else {
                differences.append("\(media) is not described")
            }
        } else if !content.isEmpty {
            differences.append("there is no content")
        }
        return differences.map { "\(operation.key) \(answer.status): \($0)" }
    }

    /// Returns the operation that a request is of: that with the fewest parameters in its path.
    private func operation(_ method: HTTPRequest.Method, _ path: String) -> Operation? {
        let parts = path.prefix { $0 != "?" }.split(separator: "/")
        func parameters(_ operation: Operation) -> Int { operation.parts.count { $0.hasPrefix("{") } }
        return operations.filter { operation in
            operation.key.hasPrefix("\(method.rawValue) ") && operation.parts.count == parts.count
                && zip(operation.parts, parts).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }.min { parameters($0) < parameters($1) }
    }

    private func resolved(_ value: JSONValue) -> JSONValue {
        guard let reference = value["$ref"]?.text else { return value }
        let parts = reference.split(separator: "/").map(String.init)
        guard parts.count == 4, let found = components[parts[2]]?[parts[3]] else { return ["enum": []] }
        return found
    }

    // MARK: - JSON Schema, as far as the description uses it for answers

    private func faults(of value: JSONValue, _ reference: JSONValue, at place: String) -> [String] {
        let schema = resolved(reference)
        if let type = schema["type"], !(type.elements ?? [type]).contains(where: { value.isOf($0) }) {
            return ["\(place) is \(value), and not of \(type)"]
        }
        var faults: [String] = []
        func expect(_ isRight: Bool, _ what: String) { if !isRight { faults.append("\(place) is \(value): \(what)") } }
        if let words = schema["enum"]?.elements { expect(words.contains(value), "it is none of \(words)") }
        if let constant = schema["const"] { expect(value == constant, "it is not \(constant)") }
        if let choices = schema["anyOf"]?.elements {
            let all = choices.map { self.faults(of: value, $0, at: place) }
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
            if let items = schema["items"] { faults += self.faults(of: element, items, at: "\(place)[\(index)]") }
        }
        for key in schema["required"]?.elements ?? [] { expect(value[key.text ?? ""] != nil, "\(key) is missing") }
        for (key, inner) in value.values {
            if let property = schema["properties"]?[key] ?? schema["additionalProperties"] {
                if property == false { expect(false, "\(key) is not described") }
                faults += self.faults(of: inner, property, at: "\(place).\(key)")
            }
            if let names = schema["propertyNames"] { faults += self.faults(of: .string(key), names, at: "\(place):") }
        }
        return faults
    }
}

extension JSONValue {
    fileprivate subscript(key: String) -> JSONValue? { values[key] }

    fileprivate var values: [String: JSONValue] { if case .object(let values) = self { values } else { [:] } }

    fileprivate var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

    fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }

    fileprivate var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .number(let number): number
        default: nil
        }
    }

    /// Returns whether a value is of a type of JSON Schema.
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
    fileprivate var values: [String: JSONValue] { self?.values ?? [:] }

    fileprivate subscript(key: String) -> JSONValue? { self?.values[key] }
}
