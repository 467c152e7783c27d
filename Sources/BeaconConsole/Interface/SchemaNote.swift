import BeaconModel

/// The meaning, the allowed words and the range of a value, in addition to its type.
struct SchemaNote: Sendable, ExpressibleByStringLiteral {
    /// The keywords that are added to the type's or replace them.
    private var keywords: [String: JSONValue]

    init(_ description: String? = nil, _ keywords: [String: JSONValue] = [:]) {
        self.keywords = keywords
        if let description { self.keywords["description"] = .string(description) }
    }

    init(stringLiteral description: String) { self.init(description) }

    /// Returns a schema with the keywords. A schema that allows null still does.
    func applied(to schema: JSONValue) -> JSONValue {
        let merged = schema.merging(keywords)
        guard schema.takesNull else { return merged }
        if keywords["$ref"] != nil { return ["anyOf": [merged, ["type": "null"]]] }
        guard case .array(let words)? = keywords["enum"] else { return merged }
        return merged.merging(["enum": .array(words + [.null])])
    }

    /// Returns a reference to a schema of the description, which replaces the schema of the type.
    static func component(_ name: String) -> SchemaNote {
        SchemaNote(nil, ["$ref": .string("#/components/schemas/\(name)")])
    }

    /// Returns the note of a number of at least zero.
    static func count(_ description: String? = nil) -> SchemaNote { SchemaNote(description, ["minimum": 0]) }

    /// Returns the note of a time in seconds since 1970.
    static func time(_ description: String = "Seconds since 1970.") -> SchemaNote { count(description) }

    /// Returns the note of one of several words.
    static func words(_ words: [String], _ description: String? = nil) -> SchemaNote {
        SchemaNote(description, ["enum": .array(words.map(JSONValue.string))])
    }

    /// Returns the note of a list with a largest number of values.
    static func list(_ description: String? = nil, atMost count: Int64) -> SchemaNote {
        SchemaNote(description, ["maxItems": .integer(count)])
    }
}

extension JSONValue {
    /// True for a schema that allows null.
    fileprivate var takesNull: Bool {
        guard case .object(let values) = self else { return false }
        if case .array(let types)? = values["type"] { return types.contains("null") }
        if case .array(let choices)? = values["anyOf"] { return choices.contains(["type": "null"]) }
        return false
    }
}
