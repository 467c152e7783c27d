import BeaconModel
import Foundation

/// The keys and types that a type requests while it is decoded.
final class SchemaRecorder {
    /// A key of an object.
    struct Field {
        var key: String
        var type: any Decodable.Type
        /// False for an optional key.
        var isRequired: Bool
    }

    /// The reason why a type cannot be recorded.
    struct Failure: Error { var reason: String }

    fileprivate(set) var fields: [Field] = []
    /// The type of the elements of an array.
    fileprivate(set) var element: (any Decodable.Type)?
    /// The name of a primitive type in JSON Schema.
    fileprivate(set) var primitive: String?
    /// True for a type that accepts any JSON.
    fileprivate(set) var isAny = false
    /// True for a type that asks for all keys.
    fileprivate(set) var hasAnyKeys = false
    /// The enclosing types, whose values are being decoded.
    fileprivate let outer: [ObjectIdentifier]

    fileprivate init(in outer: [ObjectIdentifier]) { self.outer = outer }

    /// Records a type.
    ///
    /// - Throws: ``Failure``, or the error of a type that accepts none of the samples.
    static func record<Value: Decodable>(_ type: Value.Type) throws -> SchemaRecorder { try value(of: type).1 }

    /// Sample texts: an empty one and a UUID.
    private static let samples = ["", UUID().uuidString]

    /// Returns a value of a type and the record of its decoding.
    fileprivate static func value<Value: Decodable>(
        of type: Value.Type, in outer: [ObjectIdentifier] = []
    ) throws -> (Value, SchemaRecorder) {
        guard !outer.contains(ObjectIdentifier(type)) else {
            throw Failure(reason: "\(type) contains itself")
        }
        if let any = JSONValue.null as? Value {
            let recorder = SchemaRecorder(in: outer)
            recorder.isAny = true
            return (any, recorder)
        }
        var failure: (any Error)?
        for sample in samples {
            let recorder = SchemaRecorder(in: outer + [ObjectIdentifier(type)])
            do {
                return (try Value(from: SchemaDecoder(recorder: recorder, sample: sample)), recorder)
            } catch let error as Failure {
                throw error
            } catch {
                // An enumeration accepts only the texts of its cases.
                if let value = (type as? any CaseIterable.Type)?.first as? Value { return (value, recorder) }
                failure = error
            }
        }
        throw failure ?? Failure(reason: "\(type) takes no sample")
    }
}

extension CaseIterable {
    fileprivate static var first: Any? { allCases.first }
}

/// A decoder without content that makes up each requested value and records its type.
private struct SchemaDecoder: Decoder {
    let recorder: SchemaRecorder
    /// The text for each requested string.
    let sample: String

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Keys(recorder: recorder))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { Elements(recorder: recorder) }

    func singleValueContainer() -> any SingleValueDecodingContainer { Single(recorder: recorder, sample: sample) }
}

private struct Keys<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let recorder: SchemaRecorder
    var codingPath: [any CodingKey] { [] }

    // A dictionary decodes the keys that exist.
    var allKeys: [Key] {
        recorder.hasAnyKeys = true
        return Key(stringValue: "key").map { [$0] } ?? []
    }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        recorder.fields.append(.init(key: key.stringValue, type: type, isRequired: true))
        return try SchemaRecorder.value(of: type, in: recorder.outer).0
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? { note(type, key) }

    // Without these overloads, the standard library requires the value to be present.
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

    func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        throw SchemaRecorder.Failure(reason: "\(key.stringValue) has a nested container without a type")
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw SchemaRecorder.Failure(reason: "\(key.stringValue) has nested elements without a type")
    }

    func superDecoder() throws -> any Decoder { throw SchemaRecorder.Failure(reason: "a class has no schema") }
    func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder() }
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
        return try SchemaRecorder.value(of: type, in: recorder.outer).0
    }

    mutating func nestedContainer<Nested>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        throw SchemaRecorder.Failure(reason: "elements have a nested container without a type")
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw SchemaRecorder.Failure(reason: "elements have nested elements without a type")
    }

    mutating func superDecoder() throws -> any Decoder { throw SchemaRecorder.Failure(reason: "a class has no schema") }
}

private struct Single: SingleValueDecodingContainer {
    let recorder: SchemaRecorder
    let sample: String
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }

    private func note<Value>(_ value: Value, _ name: String) -> Value {
        recorder.primitive = name
        return value
    }

    func decode(_ type: Bool.Type) throws -> Bool { note(false, "boolean") }
    func decode(_ type: String.Type) throws -> String { note(sample, "string") }
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
        let (value, inside) = try SchemaRecorder.value(of: type, in: recorder.outer)
        (recorder.fields, recorder.element, recorder.primitive) = (inside.fields, inside.element, inside.primitive)
        (recorder.isAny, recorder.hasAnyKeys) = (inside.isAny, inside.hasAnyKeys)
        return value
    }
}
