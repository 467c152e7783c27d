import BeaconModel

/// What the description says of a value beyond its type: its meaning, words and bounds.
struct SchemaNote: Sendable, ExpressibleByStringLiteral {
    /// The keywords that are added, or that take the place of the type's.
    private var keywords: [String: JSONValue]

    init(_ description: String? = nil, _ keywords: [String: JSONValue] = [:]) {
        self.keywords = keywords
        if let description { self.keywords["description"] = .string(description) }
    }

    init(stringLiteral description: String) { self.init(description) }

    /// Returns a schema with the keywords. A reference takes the place of what it is for.
    func applied(to schema: JSONValue) -> JSONValue {
        guard case .object(let values) = schema, keywords["$ref"] == nil else {
            return schema.takesNull ? ["anyOf": [.object(keywords), ["type": "null"]]] : .object(keywords)
        }
        var merged = values.merging(keywords) { old, new in
            if case .object(let inner) = new { SchemaNote(nil, inner).applied(to: old) } else { new }
        }
        if case .array(let types)? = values["type"], types.contains("null"), case .array(let words)? = merged["enum"] {
            merged["enum"] = .array(words + [.null])
        }
        return .object(merged)
    }

    /// What a schema of the description says, which takes the place of the type's.
    static func component(_ name: String) -> SchemaNote {
        SchemaNote(nil, ["$ref": .string("#/components/schemas/\(name)")])
    }

    /// A number that is not below zero.
    static func count(_ description: String? = nil) -> SchemaNote { SchemaNote(description, ["minimum": 0]) }

    /// Seconds since 1970.
    static func time(_ description: String = "Seconds since 1970.") -> SchemaNote { count(description) }

    /// One of several words.
    static func words(_ words: [String], _ description: String? = nil) -> SchemaNote {
        SchemaNote(description, ["enum": .array(words.map(JSONValue.string))])
    }

    /// A list of at most so many values.
    static func list(_ description: String? = nil, atMost count: Int64) -> SchemaNote {
        SchemaNote(description, ["maxItems": .integer(count)])
    }
}

extension JSONValue {
    /// True for a schema that null fits.
    fileprivate var takesNull: Bool {
        guard case .object(let values) = self else { return false }
        if case .array(let types)? = values["type"] { return types.contains("null") }
        if case .array(let choices)? = values["anyOf"] { return choices.contains(["type": "null"]) }
        return false
    }
}
