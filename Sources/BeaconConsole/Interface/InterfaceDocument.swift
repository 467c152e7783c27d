import BeaconGateway
import BeaconModel
import Foundation
import HTTPTypes

/// The description of the interface (OpenAPI 3.1): its operations, and the schemas of requests and answers.
struct InterfaceDocument {
    /// The schemas of the types of request bodies and answers.
    private(set) var schemas = ValueSchema()
    private var paths: [String: [String: JSONValue]] = [:]

    /// Creates a description of operations.
    init(_ operations: [InterfaceRouter.Described]) {
        _ = schemas.schema(of: Problem.Form.self, .answer)
        for one in operations {
            paths[one.path, default: [:]][one.method.rawValue.lowercased()] = value(of: one)
        }
    }

    /// The description as JSON.
    var bytes: [UInt8] {
        let responses = ProblemAnswer.allCases.map { ($0.rawValue, $0.value) }
        return Self.text(
            InterfaceFrame.value.merging([
                "paths": .object(paths.mapValues { .object($0) }),
                "components": [
                    "schemas": .object(schemas.components.merging(Self.itemSchemas) { $1 }),
                    "responses": .object(Dictionary(responses) { $1 }),
                ],
            ]))
    }

    private mutating func value(of one: InterfaceRouter.Described) -> JSONValue {
        let operation = one.operation
        var value: [String: JSONValue] = [
            "operationId": .string(operation.id), "tags": [.string(operation.tag.title)],
            "summary": .string(operation.summary),
        ]
        value["description"] = operation.details.map(JSONValue.string)
        let body = content(of: one.body, operation.bodies, .body)
        if !body.isEmpty { value["requestBody"] = ["required": true, "content": .object(body)] }

        var result: [String: JSONValue] = ["description": .string(operation.result)]
        let answer = content(of: one.answer, operation.answers, .answer)
        if !answer.isEmpty { result["content"] = .object(answer) }
        if !operation.headers.isEmpty {
            let headers = operation.headers.map { ($0, ["required": true, "schema": ["type": "string"]] as JSONValue) }
            result["headers"] = .object(Dictionary(headers) { $1 })
        }
        var responses: [String: JSONValue] = ["\(one.status.code)": .object(result)]
        for problem in one.problems {
            responses[problem.status] = ["$ref": .string("#/components/responses/\(problem.rawValue)")]
        }
        value["responses"] = .object(responses)

        var parameters = operation.parameters
        if one.method != .get, operation.security.isOfBrowsers { parameters.append(.console) }
        if !parameters.isEmpty { value["parameters"] = .array(parameters.map(\.value)) }
        switch operation.security {
        case .console: break
        case .open: value["security"] = []
        case .cookie: value["security"] = [[:], ["cookie": []]]
        case .sender(let names): value["security"] = .array(names.map { [$0: []] })
        }
        return .object(value)
    }

    /// Returns the content of a body or an answer by its media type.
    private mutating func content(
        of type: (any Decodable.Type)?, _ media: [Media], _ purpose: ValueSchema.Purpose
    ) -> [String: JSONValue] {
        var content: [String: JSONValue] = [:]
        for one in media {
            var value: [String: JSONValue] = [:]
            switch one.content {
            case .schema(let schema): value["schema"] = schema
            case .value(let type): value["schema"] = schemas.schema(of: type, purpose)
            case .text(let types):
                value["schema"] = ["type": "string"]
                for type in types { _ = schemas.schema(of: type, purpose) }
            }
            value["example"] = one.example
            content[one.type] = .object(value)
        }
        if let type, media.isEmpty { content["application/json"] = ["schema": schemas.schema(of: type, purpose)] }
        return content
    }

    // MARK: - The configuration file

    /// The JSON Schema of the configuration file.
    static let fileSchema = text(GatewayConfiguration.schema)

    private static func text(_ value: JSONValue) -> [UInt8] {
        Array((try? JSONEncoder.interface.encode(value)) ?? Data())
    }

    /// The schemas of items that the console can add.
    private static var itemSchemas: [String: JSONValue] {
        let uuid: JSONValue = "f7826da6-4fa2-4e98-8024-bc5b71e0893e"
        return [
            "RegionSettings": named(
                .region, "A region in the file's format.",
                ["name": "hall", "uuid": uuid, "major": 1, "exit-timeout": "10s"]),
            "PlaceSettings": named(
                .place, "A place in the file's format.",
                ["name": "kitchen", "receivers": ["hci1"]]),
            "RegisteredBeaconSettings": named(
                .beacon, "A named beacon in the file's format.",
                [
                    "name": "shelf", "uuid": uuid, "major": 1, "minor": 7,
                    "place": "kitchen", "attributes": ["floor": "2"],
                ]),
            "RuleSettings": named(
                .rule, "A rule in the file's format. Programs and units must be allowed.",
                [
                    "name": "welcome", "events": ["near for 30s"],
                    "when": ["days": ["sat", "sun"]], "at-most": "1d",
                    "message": ["text": "Welcome at {beacon}"],
                ]),
            "TrialRule": GatewayConfiguration.schema(of: .rule).merging(["description": "A rule to try."]),
        ]
    }

    /// Returns the schema of an item whose name appears in an address.
    private static func named(
        _ kind: ConfigurationItem.Kind, _ description: String, _ example: JSONValue
    ) -> JSONValue {
        GatewayConfiguration.schema(of: kind).merging([
            "description": .string(description), "examples": [example],
            "properties": ["name": .component("ItemName")],
        ])
    }
}
