import BeaconGateway
import BeaconModel
import Foundation

/// The documents of the interface: its description (OpenAPI 3.1), and the JSON Schema of the file.
enum InterfaceDocument {
    /// The description of the interface, with the schemas of the items from the grammar of the configuration.
    static let description: [UInt8] = {
        guard let document = try? JSONDecoder().decode(JSONValue.self, from: Data(ConsoleFiles.interface.content))
        else {
            return ConsoleFiles.interface.content
        }
        return text(document.merging(["components": .object(["schemas": .object(itemSchemas)])]))
    }()

    /// The JSON Schema of the file.
    static let schema = text(GatewayConfiguration.schema)

    private static func text(_ value: JSONValue) -> [UInt8] {
        Array((try? JSONEncoder.interface.encode(value)) ?? Data())
    }

    /// The schemas of the items that the console adds.
    private static var itemSchemas: [String: JSONValue] {
        let uuid = JSONValue.string("f7826da6-4fa2-4e98-8024-bc5b71e0893e")
        return [
            "RegionSettings": named(
                .region, "A region in the grammar of the file.",
                ["name": .string("hall"), "uuid": uuid, "major": .integer(1), "exit-timeout": .string("10s")]),
            "PlaceSettings": named(
                .place, "A place in the grammar of the file.",
                ["name": .string("kitchen"), "receivers": .array([.string("hci1")])]),
            "RegisteredBeaconSettings": named(
                .beacon, "A named beacon in the grammar of the file.",
                [
                    "name": .string("shelf"), "uuid": uuid, "major": .integer(1), "minor": .integer(7),
                    "place": .string("kitchen"), "attributes": .object(["floor": .string("2")]),
                ]),
            "RuleSettings": named(
                .rule, "A rule in the grammar of the file. Programs and units have to be allowed.",
                [
                    "name": .string("welcome"), "events": .array([.string("near for 30s")]),
                    "when": .object(["days": .array([.string("sat"), .string("sun")])]), "at-most": .string("1d"),
                    "message": .object(["text": .string("Welcome at {beacon}")]),
                ]),
            "TrialRule": GatewayConfiguration.schema(of: .rule).merging(["description": .string("A rule to try.")]),
        ]
    }

    /// Returns the schema of an item whose name is a part of an address.
    private static func named(
        _ kind: ConfigurationItem.Kind, _ description: String, _ example: [String: JSONValue]
    ) -> JSONValue {
        let name = JSONValue.object(["$ref": .string("#/components/schemas/ItemName")])
        let own: [String: JSONValue] = [
            "description": .string(description), "examples": .array([.object(example)]),
            "properties": .object(["name": name]),
        ]
        return GatewayConfiguration.schema(of: kind).merging(own)
    }
}

extension JSONValue {
    /// Returns an object with the values of another one; objects of the same key are merged too. What refers to another
    /// schema takes the place of one.
    fileprivate func merging(_ others: [String: JSONValue]) -> JSONValue {
        guard case .object(let own) = self, others["$ref"] == nil else { return .object(others) }
        return .object(
            own.merging(others) { before, new in
                if case .object(let values) = new { before.merging(values) } else { new }
            })
    }
}
