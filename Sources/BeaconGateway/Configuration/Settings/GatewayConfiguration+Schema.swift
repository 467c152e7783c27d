import BeaconConfiguration
package import BeaconModel
import BeaconMonitoring
import Foundation

extension GatewayConfiguration {
    /// The JSON Schema (2020-12) of the file.
    package static var schema: JSONValue {
        guard case .object(var schema) = grammar.shape.schema() else { return .null }
        schema["$schema"] = .string("https://json-schema.org/draft/2020-12/schema")
        schema["title"] = .string("beacond.yaml")
        schema["description"] = .string("The configuration of beacond, an iBeacon gateway.")
        return .object(schema)
    }

    /// Returns the JSON Schema of the file as text.
    package static func schemaText() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(schema), as: UTF8.self)
    }

    /// The reference of all keys, in Markdown.
    package static var reference: String { ReferenceTable.markdown(grammar.descriptions) }
}
