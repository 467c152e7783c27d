import BeaconConsole
import BeaconModel
import Foundation
import HTTPTypes
import Testing

/// The page of the interface in the docs, which programs can rely on. The test shows changes of it.
///
/// `BEACON_WRITE_GOLDEN=1` rewrites it. Read the difference before you commit it.
@Suite("The interface: documentation page")
struct InterfacePageTests {
    private static let page = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().appendingPathComponent("../../../docs/interface.md").standardizedFileURL

    private static let start = "<!-- interface: v1/openapi.json -->\n"

    @Test("The page has the requests and values of the description")
    func page() async throws {
        let text = try await WebBench().ask(.get, "/v1/openapi.json").body
        let listing = InterfaceListing(try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)))
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        let start = try #require(page.range(of: Self.start))
        if ProcessInfo.processInfo.environment["BEACON_WRITE_GOLDEN"] != nil {
            return try Data((page[..<start.upperBound] + "\n" + listing.text).utf8).write(to: Self.page)
        }
        let (expected, reported) = (
            page[start.upperBound...].split(separator: "\n"), listing.text.split(separator: "\n")
        )
        #expect(reported.difference(from: expected).map { "\($0)" } == [])
    }
}

/// The requests, parameters and values of a description as tables.
private struct InterfaceListing {
    /// The problems that nearly all requests have.
    private static let general: Set = ["401", "403", "421", "5XX"]

    private let document: JSONValue

    init(_ document: JSONValue) { self.document = document }

    var text: String { (requests + ["## Values", ""] + values).joined(separator: "\n") + "\n" }

    private var requests: [String] {
        (document["tags"]?.elements ?? []).flatMap { tag -> [String] in
            let name = tag["name"]?.text ?? ""
            var rows = ["| request | what it does | body | answer | problems |", "|---|---|---|---|---|"]
            // The requests by their parameters, in the order of the paths.
            var parameters: [(row: String, requests: [String])] = []
            for (path, methods) in document["paths"].values.sorted(by: { $0.key < $1.key }) {
                for (method, operation) in methods.values.sorted(by: { $0.key < $1.key })
                where operation["tags"] == [.string(name)] {
                    let request = "`\(method.uppercased()) \(path)`"
                    rows.append(row(of: operation, request))
                    for parameter in (operation["parameters"]?.elements ?? []).map(document.resolved)
                    where parameter["name"] != "X-Beacon-Console" {
                        let row = self.row(of: parameter)
                        let index = parameters.firstIndex { $0.row == row } ?? parameters.endIndex
                        if index == parameters.endIndex { parameters.append((row, [])) }
                        parameters[index].requests.append(request)
                    }
                }
            }
            let head = ["## \(name)", "", tag["description"]?.text ?? "", ""]
            let table = ["", "| parameter | in | value | meaning | requests |", "|---|---|---|---|---|"]
            let others = parameters.map { "\($0.row) \($0.requests.joined(separator: ", ")) |" }
            return head + rows + (others.isEmpty ? [] : table + others) + [""]
        }
    }

    private func row(of operation: JSONValue, _ request: String) -> String {
        let answers = operation["responses"].values.filter { $0.key.hasPrefix("2") }.map { status, answer in
            "\(status) \(Self.types(of: answer["content"]))".trimmingCharacters(in: .whitespaces)
        }
        let problems = operation["responses"].values.keys.filter { !$0.hasPrefix("2") && !Self.general.contains($0) }
        let what = [operation["summary"], operation["description"]].compactMap { $0?.text }.joined(separator: ". ")
        let cells = [
            request, what, Self.types(of: operation["requestBody"]["content"]),
            answers.sorted().joined(separator: ", "), problems.sorted().joined(separator: " "),
        ]
        return "| \(cells.joined(separator: " | ")) |"
    }

    private func row(of parameter: JSONValue) -> String {
        let schema = parameter["schema"] ?? [:]
        let isRequired = parameter["required"] == true
        let cells = [
            "`\(parameter["name"]?.text ?? "")`\(isRequired ? "" : "?")", parameter["in"]?.text ?? "",
            Self.type(schema),
            [parameter["description"]?.text, Self.fallback(of: schema)].compactMap(\.self).joined(separator: " "),
        ]
        return "| \(cells.joined(separator: " | ")) |"
    }

    private var values: [String] {
        let schemas = document["components"]["schemas"].values.sorted { $0.key < $1.key }
        return ["| value | key | type | meaning |", "|---|---|---|---|"]
            + schemas.flatMap { name, schema -> [String] in
                let meaning = schema["description"]?.text ?? ""
                guard let properties = schema["properties"] else {
                    return ["| **\(name)** |  | \(Self.type(schema)) | \(meaning) |"]
                }
                let required = Set((schema["required"]?.elements ?? []).compactMap(\.text))
                return ["| **\(name)** |  |  | \(meaning) |"]
                    + properties.values.sorted { $0.key < $1.key }.map { key, value in
                        "|  | `\(key)`\(required.contains(key) ? "" : "?") | \(Self.type(value)) | \(value["description"]?.text ?? "") |"
                    }
            }
    }

    /// Returns the types of content: values by name, other content by media type.
    private static func types(of content: JSONValue?) -> String {
        content.values.sorted { $0.key < $1.key }.map { media, content in
            (media == "application/json" || media.hasSuffix("+json")) && content["schema"].values.isEmpty == false
                ? type(content["schema"] ?? [:]) : media
        }.joined(separator: ", ")
    }

    private static func fallback(of schema: JSONValue) -> String? {
        schema["default"].flatMap { try? JSONEncoder().encode($0) }.map {
            "Default: \(String(decoding: $0, as: UTF8.self).replacing("\"", with: ""))."
        }
    }

    private static func type(_ schema: JSONValue) -> String {
        if let reference = schema["$ref"]?.text { return reference.split(separator: "/").last.map(String.init) ?? "" }
        if let choices = schema["oneOf"]?.elements { return choices.map(type).joined(separator: " or ") }
        if let words = schema["enum"]?.elements {
            return words.map { $0.text.map { "`\($0)`" } ?? "null" }.joined(separator: ", ")
        }
        let types = schema["type"].map { $0.elements ?? [$0] } ?? []
        let words = types.compactMap(\.text).map { word in
            switch word {
            case "array": "list of \(type(schema["items"] ?? [:]))"
            case "object" where schema["additionalProperties"].values.isEmpty == false:
                "mapping to \(type(schema["additionalProperties"] ?? [:]))"
            default: word
            }
        }
        return words.isEmpty ? "any" : words.joined(separator: " or ") + bounds(of: schema)
    }

    /// Returns the bounds of a number, a text or a list.
    private static func bounds(of schema: JSONValue) -> String {
        func text(_ key: String) -> String? {
            schema[key].flatMap { try? JSONEncoder().encode($0) }.map { String(decoding: $0, as: UTF8.self) }
        }
        for (least, most, unit) in [
            ("minimum", "maximum", ""), ("minLength", "maxLength", " characters"), ("minItems", "maxItems", " values"),
        ] {
            switch (text(least), text(most)) {
            case (let least?, let most?): return least == most ? ", \(least)\(unit)" : ", \(least) to \(most)\(unit)"
            case (let least?, nil): return ", at least \(least)\(unit)"
            case (nil, let most?): return ", at most \(most)\(unit)"
            case (nil, nil): continue
            }
        }
        return ""
    }
}
