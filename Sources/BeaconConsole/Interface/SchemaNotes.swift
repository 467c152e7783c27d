import BeaconModel

/// The meanings, words and bounds of the interface's values, in addition to their types.
enum SchemaNotes {
    /// Returns the note of a key, for types that have no note of it.
    static func of(_ key: String, _ purpose: ValueSchema.Purpose) -> SchemaNote? {
        // A body may have it in any form.
        key == "uuid" && purpose == .body ? .component("UUIDText") : ofKeys[key]
    }

    /// The notes of keys, for all types that have no note of the key.
    static let ofKeys: [String: SchemaNote] = [
        "major": SchemaNote(nil, ["minimum": 0, "maximum": 65535]),
        "minor": SchemaNote(nil, ["minimum": 0, "maximum": 65535]),
        "origin": .words(
            ["file", "console"], "file: the configuration has it, and it is changed there; console: it was added here."),
        "proximity": .words(
            ["unknown", "immediate", "near", "far"], "immediate: within 0.5 m; near: within 3 m; far: beyond 3 m."),
        "settings": SchemaNote("Its keys and values in the grammar of the file.", ["type": "object"]),
        "time": .time(),
        "uuid": SchemaNote(
            "A proximity UUID in lower case.",
            [
                "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
                "examples": ["f7826da6-4fa2-4e98-8024-bc5b71e0893e"],
            ]),
    ]

    /// The notes of types and of their keys, by the name of the type in the description; that of a type has no key.
    static let ofTypes: [String: [String: SchemaNote]] = sensing.merging(deliveries) { $1 }
}
