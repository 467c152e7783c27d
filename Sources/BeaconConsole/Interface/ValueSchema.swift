import BeaconGateway
import BeaconModel

/// The JSON Schemas of the interface's values, derived from how their types decode.
///
/// A decoder without content records each key that a type requests, with the type of its value. So a type's new key
/// appears in the description at once. A type with a custom `encode(to:)` must decode the same keys.
struct ValueSchema {
    /// The use of a value.
    ///
    /// In a body, an optional key may be null, and unknown keys are ignored. An answer has exactly the keys of its
    /// type.
    enum Purpose { case body, answer }

    /// The schemas of objects by name.
    private(set) var components: [String: JSONValue] = [:]

    /// The notes that were used: `Type` for a type's note, `Type.key` or `key` for a value's note.
    private(set) var usedNotes: Set<String> = []

    /// The types that could not be recorded, with the reasons.
    private(set) var unreadable: [String] = []

    /// The names that several types share, and the names of types that appear in both bodies and answers.
    private(set) var sharedNames: Set<String> = []
    private var types: [String: (type: ObjectIdentifier, purpose: Purpose)] = [:]

    /// Returns the schema of a type, which for an object is a reference.
    mutating func schema(of type: any Decodable.Type, _ purpose: Purpose) -> JSONValue { schema(open: type, purpose) }

    private mutating func schema<Value: Decodable>(open type: Value.Type, _ purpose: Purpose) -> JSONValue {
        if let nullable = type as? any NullableValue.Type { return schema(of: nullable.valueType, purpose).orNull }
        if let optional = type as? any OptionalValue.Type { return schema(of: optional.valueType, purpose).orNull }
        let recorder: SchemaRecorder
        do {
            recorder = try SchemaRecorder.record(type)
        } catch {
            unreadable.append("\(String(reflecting: type)): \(error)")
            return [:]
        }
        if recorder.isAny { return [:] }
        if let name = recorder.primitive { return ["type": .string(name)] }
        if let element = recorder.element { return ["type": "array", "items": schema(of: element, purpose)] }
        if type is any StringKeyed.Type, let value = recorder.fields.first {
            return ["type": "object", "additionalProperties": schema(of: value.type, purpose)]
        }
        if recorder.hasAnyKeys { unreadable.append("\(String(reflecting: type)): it asks for all keys") }
        return reference(to: type, recorder.fields, purpose)
    }

    /// Adds the schema of an object and returns a reference to it.
    private mutating func reference<Value>(
        to type: Value.Type, _ fields: [SchemaRecorder.Field], _ purpose: Purpose
    ) -> JSONValue {
        let name = Self.name(of: type)
        if let known = types[name] {
            if known != (ObjectIdentifier(type), purpose) { sharedNames.insert(name) }
            return .component(name)
        }
        types[name] = (ObjectIdentifier(type), purpose)
        var properties: [String: JSONValue] = [:]
        for field in fields {
            var value = schema(of: field.type, purpose)
            if purpose == .body, !field.isRequired { value = value.orNull }
            properties[field.key] = noted(value, name, field.key, purpose)
        }
        var object: [String: JSONValue] = ["type": "object", "properties": .object(properties)]
        let required = fields.filter(\.isRequired).map { JSONValue.string($0.key) }
        if !required.isEmpty { object["required"] = .array(required) }
        if purpose == .answer { object["additionalProperties"] = false }
        components[name] = noted(.object(object), name, nil, purpose)
        return .component(name)
    }

    /// Returns a schema with the note of a type, or of a type's key.
    private mutating func noted(
        _ schema: JSONValue, _ type: String, _ key: String?, _ purpose: Purpose
    ) -> JSONValue {
        if let note = SchemaNotes.ofTypes[type]?[key ?? ""] {
            usedNotes.insert(key.map { "\(type).\($0)" } ?? type)
            return note.applied(to: schema)
        }
        guard let key, let note = SchemaNotes.of(key, purpose) else { return schema }
        usedNotes.insert(key)
        return note.applied(to: schema)
    }

    /// Returns the name of a type in the description: its Swift name with the enclosing types, without the group of
    /// routes and without the suffixes `Value` and `Form`.
    static func name<Value>(of type: Value.Type) -> String {
        let parts = String(reflecting: type).split(separator: ".").dropFirst()
        return parts.filter { !$0.hasPrefix("(") && !$0.hasSuffix("Routes") }.map { part in
            ["Value", "Form"].first(where: part.hasSuffix).map { String(part.dropLast($0.count)) } ?? String(part)
        }.joined()
    }
}

extension JSONValue {
    /// The schema, extended to allow null.
    fileprivate var orNull: JSONValue {
        guard self != [:] else { return self }
        guard case .object(var values) = self, case .string(let type)? = values["type"] else {
            return ["anyOf": [self, ["type": "null"]]]
        }
        values["type"] = [.string(type), "null"]
        return .object(values)
    }
}

/// A wrapper that encodes nil as null.
private protocol NullableValue { static var valueType: any Decodable.Type { get } }

extension Nullable: NullableValue where Value: Decodable {
    static var valueType: any Decodable.Type { Value.self }
}

/// An element of a list that can be null.
private protocol OptionalValue { static var valueType: any Decodable.Type { get } }

extension Optional: OptionalValue where Wrapped: Decodable {
    static var valueType: any Decodable.Type { Wrapped.self }
}

/// An object with keys that users choose.
private protocol StringKeyed {}

extension Dictionary: StringKeyed where Key == String {}
