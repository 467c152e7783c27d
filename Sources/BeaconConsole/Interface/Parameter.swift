import BeaconModel

/// A parameter of a request.
struct Parameter: Sendable {
    /// The part of the request that contains the parameter.
    enum Place: String, Sendable { case query, path, header }

    var name: String
    var place: Place
    var isRequired: Bool
    var meaning: String
    var schema: JSONValue
    var example: JSONValue?
    /// True for a list in one text with commas, and false for a list of repeated parameters.
    var isOneText = false

    /// The parameter in the description.
    var value: JSONValue {
        var value: [String: JSONValue] = [
            "name": .string(name), "in": .string(place.rawValue), "description": .string(meaning), "schema": schema,
        ]
        if isRequired { value["required"] = true }
        if isOneText { value["explode"] = false }
        value["example"] = example
        return .object(value)
    }

    /// Returns a query parameter, by default a text.
    static func query(
        _ name: String, _ meaning: String, _ schema: JSONValue = ["type": "string"], required: Bool = false,
        example: JSONValue? = nil
    ) -> Parameter {
        Parameter(
            name: name, place: .query, isRequired: required, meaning: meaning, schema: schema, example: example)
    }

    /// Returns a query parameter that is a whole number, with its range and default.
    static func number(
        _ name: String, _ meaning: String, _ range: ClosedRange<Int64>, default fallback: Int64? = nil,
        example: Int64
    ) -> Parameter {
        var schema: [String: JSONValue] = [
            "type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound),
        ]
        schema["default"] = fallback.map(JSONValue.integer)
        return query(name, meaning, .object(schema), example: .integer(example))
    }

    /// Returns a query parameter that is a time, in seconds since 1970.
    static func time(_ name: String, _ meaning: String, required: Bool = false, example: Int64) -> Parameter {
        query(
            name, meaning, ["type": "number", "minimum": 0, "maximum": .number(Timestamp.latest.seconds)],
            required: required, example: .integer(example))
    }

    /// Returns a query parameter that is one of several words.
    static func words(
        _ name: String, _ meaning: String, _ words: [String], default fallback: String? = nil, example: String? = nil
    ) -> Parameter {
        var schema: [String: JSONValue] = ["type": "string", "enum": .array(words.map(JSONValue.string))]
        schema["default"] = fallback.map(JSONValue.string)
        return query(name, meaning, .object(schema), example: example.map(JSONValue.string))
    }

    /// Returns a name in the path.
    static func path(_ name: String, _ meaning: String, example: String) -> Parameter {
        Parameter(
            name: name, place: .path, isRequired: true, meaning: meaning, schema: .component("PathName"),
            example: .string(example))
    }

    /// Returns a header, which can be any text.
    static func header(_ name: String, _ meaning: String, required: Bool = false, example: String) -> Parameter {
        Parameter(
            name: name, place: .header, isRequired: required, meaning: meaning, schema: ["type": "string"],
            example: .string(example))
    }
}

/// The parameters that several requests share.
extension Parameter {
    /// The header that pages of other sites cannot send.
    static let console = Parameter(
        name: "X-Beacon-Console", place: .header, isRequired: true,
        meaning: "Keeps pages of other sites from changing anything.", schema: ["type": "string", "const": "1"],
        example: "1")

    // The filters of past events.

    static let before = Parameter.number("before", "Only events with a lower number.", 1...Int64.max, example: 1200)
    static let from = Parameter.time(
        "from", "Only events from this time on, in seconds since 1970.", example: 1_700_000_000)
    static let to = Parameter.time("to", "Only events up to this time, in seconds since 1970.", example: 1_700_086_400)
    static let kind = Parameter(
        name: "kind", place: .query, isRequired: false,
        meaning: "Only events of these kinds; an empty kind is ignored.",
        schema: ["type": "array", "items": ["anyOf": [.component("EventKind"), ["const": ""]]]],
        example: ["enter", "exit"], isOneText: true)
    static let region = Parameter.query("region", "Only events of this region.", example: "hall")
    static let ofPlace = Parameter.query("place", "Only events of this place.", example: "kitchen")
    static let install = Parameter.query("install", "Only events of this install.", example: "6b2d0f4e")

    // The names in addresses.

    static let itemName = Parameter.path("name", "The name, percent-encoded.", example: "hall")
    static let installID = Parameter.path("id", "The identifier of an install.", example: "6b2d0f4e")
    static let senderID = Parameter(
        name: "id", place: .path, isRequired: true,
        meaning: "The app's own identifier of this install, at most 100 bytes.",
        schema: [
            "type": "string", "minLength": 1, "maxLength": 100, "pattern": .string(InterfaceFrame.oneLine),
        ], example: "6b2d0f4e")
}
