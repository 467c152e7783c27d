import Foundation

/// The keys and types that a value asks for while it is decoded.
final class SchemaRecorder {
    /// A key of an object.
    struct Field {
        var key: String
        var type: any Decodable.Type
        /// False for one that may be missing.
        var isRequired: Bool
    }

    var fields: [Field] = []
    /// The type of the elements of an array.
    var element: (any Decodable.Type)?
    /// The name of a type without parts, in JSON Schema.
    var primitive: String?
}

/// A decoder without content, which gives each value that is asked for, and notes its type.
struct SchemaDecoder: Decoder {
    private let recorder: SchemaRecorder
    /// The text that is given where one is asked for.
    private let text: String

    private init(_ recorder: SchemaRecorder, text: String) { (self.recorder, self.text) = (recorder, text) }

    /// Texts of which each type that is written as one takes one.
    private static let texts = ["", UUID().uuidString]

    /// Returns what a type asks for, with some value of it.
    ///
    /// - Throws: the error of a type that takes none of the values.
    static func record<Value: Decodable>(_ type: Value.Type) throws -> (SchemaRecorder, Value) {
        var failure: (any Error)?
        for text in texts {
            let recorder = SchemaRecorder()
            do {
                return (recorder, try Value(from: SchemaDecoder(recorder, text: text)))
            } catch {
                // A type with few values asks for the text of one of them.
                if let value = (type as? any CaseIterable.Type)?.first as? Value { return (recorder, value) }
                failure = error
            }
        }
        throw failure ?? CancellationError()
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Keys(recorder: recorder))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { Elements(recorder: recorder) }

    func singleValueContainer() -> any SingleValueDecodingContainer { Single(recorder: recorder, text: text) }

    /// Returns some value of a type.
    fileprivate static func value<Value: Decodable>(_ type: Value.Type) throws -> Value { try record(type).1 }

    /// A decoder of what is inside of a value, which is not noted.
    fileprivate static var inside: SchemaDecoder { SchemaDecoder(SchemaRecorder(), text: "") }
}

private struct Keys<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let recorder: SchemaRecorder
    var codingPath: [any CodingKey] { [] }
    // A mapping of any keys is decoded by those that it has.
    var allKeys: [Key] { Key(stringValue: "key").map { [$0] } ?? [] }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        recorder.fields.append(.init(key: key.stringValue, type: type, isRequired: true))
        return try SchemaDecoder.value(type)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        recorder.fields.append(.init(key: key.stringValue, type: type, isRequired: false))
        return nil
    }

    // Without these, the library asks for a value that has to be there.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { note(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { note(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { note(type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { note(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { note(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { note(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { note(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { note(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { note(type, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { note(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { note(type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { note(type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { note(type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { note(type, key) }

    private func note<Value: Decodable>(_ type: Value.Type, _ key: Key) -> Value? {
        recorder.fields.append(.init(key: key.stringValue, type: type, isRequired: false))
        return nil
    }

    func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(Keys<Nested>(recorder: SchemaRecorder()))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
        Elements(recorder: SchemaRecorder())
    }
    func superDecoder() -> any Decoder { SchemaDecoder.inside }
    func superDecoder(forKey key: Key) -> any Decoder { SchemaDecoder.inside }
}

private struct Elements: UnkeyedDecodingContainer {
    let recorder: SchemaRecorder
    var codingPath: [any CodingKey] { [] }
    var count: Int? { 1 }
    var currentIndex = 0
    var isAtEnd: Bool { currentIndex > 0 }

    init(recorder: SchemaRecorder) { self.recorder = recorder }

    mutating func decodeNil() -> Bool { false }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        recorder.element = type
        currentIndex += 1
        return try SchemaDecoder.value(type)
    }

    mutating func nestedContainer<Nested>(keyedBy type: Nested.Type) -> KeyedDecodingContainer<Nested> {
        currentIndex += 1
        return KeyedDecodingContainer(Keys<Nested>(recorder: SchemaRecorder()))
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer {
        currentIndex += 1
        return Elements(recorder: SchemaRecorder())
    }

    mutating func superDecoder() -> any Decoder { SchemaDecoder.inside }
}

extension CaseIterable {
    fileprivate static var first: Any? { allCases.first }
}

private struct Single: SingleValueDecodingContainer {
    let recorder: SchemaRecorder
    let text: String
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }

    private func note<Value>(_ value: Value, _ name: String) -> Value {
        recorder.primitive = name
        return value
    }

    func decode(_ type: Bool.Type) throws -> Bool { note(false, "boolean") }
    func decode(_ type: String.Type) throws -> String { note(text, "string") }
    func decode(_ type: Double.Type) throws -> Double { note(0, "number") }
    func decode(_ type: Float.Type) throws -> Float { note(0, "number") }
    func decode(_ type: Int.Type) throws -> Int { note(0, "integer") }
    func decode(_ type: Int8.Type) throws -> Int8 { note(0, "integer") }
    func decode(_ type: Int16.Type) throws -> Int16 { note(0, "integer") }
    func decode(_ type: Int32.Type) throws -> Int32 { note(0, "integer") }
    func decode(_ type: Int64.Type) throws -> Int64 { note(0, "integer") }
    func decode(_ type: UInt.Type) throws -> UInt { note(0, "integer") }
    func decode(_ type: UInt8.Type) throws -> UInt8 { note(0, "integer") }
    func decode(_ type: UInt16.Type) throws -> UInt16 { note(0, "integer") }
    func decode(_ type: UInt32.Type) throws -> UInt32 { note(0, "integer") }
    func decode(_ type: UInt64.Type) throws -> UInt64 { note(0, "integer") }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let (inside, value) = try SchemaDecoder.record(type)
        (recorder.fields, recorder.element, recorder.primitive) = (inside.fields, inside.element, inside.primitive)
        return value
    }
}
