import BeaconModel

/// The meanings, allowed words and ranges of the interface's values, in addition to their types.
enum SchemaNotes {
    /// Returns the note of a key for types without their own note of it.
    static func of(_ key: String, _ purpose: ValueSchema.Purpose) -> SchemaNote? {
        // A body may have the UUID in any form.
        key == "uuid" && purpose == .body ? .component("UUIDText") : ofKeys[key]
    }

    /// The notes of keys for all types without their own note of the key.
    static let ofKeys: [String: SchemaNote] = [
        "major": SchemaNote(nil, ["minimum": 0, "maximum": 65535]),
        "minor": SchemaNote(nil, ["minimum": 0, "maximum": 65535]),
        "origin": .words(
            ["file", "console"],
            "file: an item of the configuration file, which must be changed there; console: an item added in the console."
        ),
        "proximity": .words(
            ["unknown", "immediate", "near", "far"], "immediate: within 0.5 m; near: within 3 m; far: beyond 3 m."),
        "settings": SchemaNote("The keys and values in the file's format.", ["type": "object"]),
        "time": .time(),
        "uuid": SchemaNote(
            "A proximity UUID in lower case.",
            [
                "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
                "examples": ["f7826da6-4fa2-4e98-8024-bc5b71e0893e"],
            ]),
    ]

    /// The notes of types and of their keys, by the type's name in the description. The note of the type itself has no
    /// key.
    static let ofTypes: [String: [String: SchemaNote]] = sensing.merging(deliveries) { $1 }
}
