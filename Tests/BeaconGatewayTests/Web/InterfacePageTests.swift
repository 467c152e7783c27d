import BeaconModel
import Foundation
import HTTPTypes
import Testing

@testable import BeaconConsole

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

/// The requests and values of a description as tables.
private struct InterfaceListing {
    /// The problems that nearly all requests have.
    private static let general: Set = ["401", "403", "421", "default"]

    private let document: JSONValue

    init(_ document: JSONValue) { self.document = document }

    var text: String { (requests + ["## Values", ""] + values).joined(separator: "\n") + "\n" }

    private var requests: [String] {
        var rows: [String: [String]] = [:]
        for (path, methods) in document["paths"].values.sorted(by: { $0.key < $1.key }) {
            for (method, operation) in methods.values.sorted(by: { $0.key < $1.key }) {
                let answers = operation["responses"].values.filter { $0.key.hasPrefix("2") }.map { status, answer in
                    "\(status) \(Self.types(of: answer["content"]))".trimmingCharacters(in: .whitespaces)
                }
                let problems = operation["responses"].values.keys.filter {
                    !$0.hasPrefix("2") && !Self.general.contains($0)
                }
                let row = [
                    "`\(method.uppercased()) \(path)`", operation["summary"]?.text ?? "",
                    Self.types(of: operation["requestBody"]["content"]), answers.joined(separator: ", "),
                    problems.sorted().joined(separator: " "),
                ]
                let tag = operation["tags"]?.elements?.first?.text ?? ""
                rows[tag, default: []].append("| \(row.joined(separator: " | ")) |")
            }
        }
        return (document["tags"]?.elements ?? []).flatMap { tag -> [String] in
            let name = tag["name"]?.text ?? ""
            let head = ["## \(name)", "", tag["description"]?.text ?? "", ""]
            let table = ["| request | what it does | body | answer | problems |", "|---|---|---|---|---|"]
            return head + table + (rows[name] ?? []) + [""]
        }
    }

    private var values: [String] {
        let schemas = document["components"]["schemas"].values.sorted { $0.key < $1.key }
        // The file's items are described with the file.
        let own = schemas.filter { !$0.key.hasSuffix("Settings") && $0.key != "TrialRule" }
        return ["| value | keys |", "|---|---|"]
            + own.compactMap { name, schema in
                guard let properties = schema["properties"] else { return "| \(name) | \(Self.type(schema)) |" }
                let required = Set((schema["required"]?.elements ?? []).compactMap(\.text))
                let keys = properties.values.sorted { $0.key < $1.key }.map { key, value in
                    "`\(key)`\(required.contains(key) ? "" : "?") \(Self.type(value))"
                }
                return "| \(name) | \(keys.joined(separator: ", ")) |"
            }
    }

    /// Returns the types of content: values by name, other content by media type.
    private static func types(of content: JSONValue?) -> String {
        content.values.sorted { $0.key < $1.key }.map { media, content in
            (media == "application/json" || media.hasSuffix("+json")) && content["schema"].values.isEmpty == false
                ? type(content["schema"] ?? [:]) : media
        }.joined(separator: ", ")
    }

    private static func type(_ schema: JSONValue) -> String {
        if let reference = schema["$ref"]?.text { return reference.split(separator: "/").last.map(String.init) ?? "" }
        if let choices = schema["anyOf"]?.elements { return choices.map(type).joined(separator: " or ") }
        let types = schema["type"].map { $0.elements ?? [$0] } ?? []
        let words = types.compactMap(\.text).map { word in
            switch word {
            case "array": "list of \(type(schema["items"] ?? [:]))"
            case "object" where schema["additionalProperties"].values.isEmpty == false:
                "mapping to \(type(schema["additionalProperties"] ?? [:]))"
            default: word
            }
        }
        return words.isEmpty ? "any" : words.joined(separator: " or ")
    }
}
