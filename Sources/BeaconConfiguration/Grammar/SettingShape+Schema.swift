package import BeaconModel
import BeaconSupport

/// The JSON Schema (2020-12) of a value, for editors and for the interface.
extension SettingShape {
    /// Spans of time as texts: numbers with units, or a number alone.
    package static let durationPattern =
        #"((([0-9]+\.?[0-9]*|\.[0-9]+)(us|ms|[smhd]))+|[0-9]+\.?[0-9]*|\.[0-9]+)"#

    /// The schema of the values.
    ///
    /// A reader accepts a text for each kind of value, since environment variables are texts. Editors and the interface
    /// also know the types of YAML and JSON, so the schema allows both.
    ///
    /// - Parameter isRequired: false if the value may be empty, which is the same as a missing key.
    package func schema(isRequired: Bool = true) -> JSONValue {
        switch self {
        case .text(let shortest, let longest, let pattern):
            let fits = { (text: String) in
                pattern.map { (try? Regex($0).wholeMatch(in: text)).flatMap { $0 } != nil } ?? true
            }
            let number = fits("1.5") ? ["number"] : fits("15") ? ["integer"] : []
            return Self.typed(
                ["string"] + number + (fits("true") && fits("false") ? ["boolean"] : []), isRequired,
                [
                    "minimum": number.isEmpty || fits("-15") ? nil : .integer(0),
                    "minLength": shortest > 0 ? .integer(Int64(shortest)) : nil,
                    "maxLength": longest.map { .integer(Int64($0)) }, "pattern": pattern.map(JSONValue.string),
                ])
        case .integer(let range, _):
            let (least, most) = (Int64(range.lowerBound), Int64(range.upperBound))
            return Self.typed(
                ["integer", "string"], isRequired,
                ["minimum": .integer(least), "maximum": .integer(most), "pattern": .string(range.pattern)])
        case .number(let least):
            return Self.typed(
                ["number", "string"], isRequired,
                ["exclusiveMinimum": .number(least), "pattern": .string(#"^[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?$"#)])
        case .boolean:
            return Self.typed(
                ["boolean", "string", "integer"], isRequired,
                [
                    "minimum": .integer(0), "maximum": .integer(1),
                    "pattern": .string(
                        "^([Tt][Rr][Uu][Ee]|[Yy][Ee][Ss]|[Oo][Nn]|1|[Ff][Aa][Ll][Ss][Ee]|[Nn][Oo]|[Oo][Ff][Ff]|0)$"),
                ])
        case .duration(let range):
            return Self.typed(
                ["string", "number"], isRequired,
                [
                    "minimum": .number(range.lowerBound / .seconds(1)),
                    "maximum": .number(range.upperBound / .seconds(1)),
                    "pattern": .string("^\(Self.durationPattern)$"),
                ])
        case .bytes(let range):
            return Self.typed(
                ["string", "number"], isRequired,
                [
                    "minimum": .integer(Int64(range.lowerBound)), "maximum": .integer(Int64(range.upperBound)),
                    "pattern": .string(#"^[0-9]*\.?[0-9]+ *(B|[kKMG]B|[KMGT]iB)?$"#),
                ])
        case .words(let words):
            // YAML reads some words as numbers or Booleans.
            let others = words.compactMap { word -> JSONValue? in
                Double(word).map { $0 == $0.rounded() ? .integer(Int64($0)) : .number($0) }
            }
            let off: [JSONValue] =
                words == ["off"]
                ? [.bool(false)] + ["Off", "OFF", "false", "False", "FALSE"].map(JSONValue.string) : []
            return .object([
                "enum": .array(words.map(JSONValue.string) + others + off + (isRequired ? [] : [.null]))
            ])
        case .list(let item, let shortest, let isUnique):
            var list: [String: JSONValue] = ["type": .string("array"), "items": item.schema()]
            if shortest > 0 { list["minItems"] = .integer(Int64(shortest)) }
            if isUnique { list["uniqueItems"] = .bool(true) }
            return Self.any([.object(list), item.schema(isRequired: isRequired)])
        case .point:
            return .object([
                "type": .string("array"), "items": .object(["type": .string("number")]), "minItems": .integer(2),
                "maxItems": .integer(2),
            ])
        case .url:
            return Self.any([
                Self.typed(["string"], isRequired, ["pattern": .string("^[Hh][Tt][Tt][Pp][Ss]?://[^/]")]),
                Self.secret(true),
            ])
        case .secret: return Self.secret(isRequired)
        case .path: return SettingShape.text().schema(isRequired: isRequired)
        case .mapping(let keys, let choice): return Self.mapping(keys, isRequired, choice)
        case .pairs(let value, let most, let longest):
            return Self.typed(
                ["object"], isRequired,
                [
                    "maxProperties": .integer(Int64(most)),
                    "propertyNames": .object(["minLength": .integer(1), "maxLength": .integer(Int64(longest))]),
                    "additionalProperties": value.schema(isRequired: false),
                ])
        case .items(let item): return Self.typed(["array"], isRequired, ["items": item.schema()])
        case .either(let shapes):
            return Self.any(
                shapes.enumerated().map { $1.schema(isRequired: isRequired || $0 < shapes.count - 1) })
        case .variants(let keys, let key, let variants):
            return Self.any(
                variants.map { word, others in
                    let own = keys.map { one in
                        var one = one
                        if one.key == key { one.shape = .words([word]) }
                        return one
                    }
                    return Self.mapping(own + others, isRequired, [])
                })
        }
    }

    /// The schema of a mapping of known keys.
    package static func mapping(
        _ keys: [SettingDescription], _ isRequired: Bool = true, _ choice: [String] = []
    ) -> JSONValue {
        let required = keys.filter(\.isRequired).map { JSONValue.string($0.key) }
        let properties = keys.map { ($0.key, $0.schema) }
        return typed(
            ["object"], isRequired,
            [
                "additionalProperties": .bool(false),
                "properties": .object(Dictionary(properties) { first, _ in first }),
                "required": required.isEmpty ? nil : .array(required),
                "anyOf": choice.isEmpty ? nil : .array(choice.map(given)),
            ])
    }

    /// Returns the schema of mappings that have a value for a key.
    private static func given(_ key: String) -> JSONValue {
        let something = JSONValue.object(["not": .object(["type": .string("null")])])
        return .object(["required": .array([.string(key)]), "properties": .object([key: something])])
    }

    private static func typed(
        _ types: [String], _ isRequired: Bool, _ others: [String: JSONValue?]
    ) -> JSONValue {
        let names = (types + (isRequired ? [] : ["null"])).map(JSONValue.string)
        return .object(
            others.compactMapValues(\.self).merging(["type": names.count == 1 ? names[0] : .array(names)]) { own, _ in
                own
            })
    }

    private static func any(_ schemas: [JSONValue]) -> JSONValue { .object(["anyOf": .array(schemas)]) }

    private static func secret(_ isRequired: Bool) -> JSONValue {
        let place = JSONValue.object(["type": .array([.string("string"), .string("number"), .string("boolean")])])
        return typed(
            ["object"], isRequired,
            [
                "properties": .object([
                    "env": place, "file": .object(["type": .string("string")]),
                    "secret": .object(["type": .string("string")]),
                ]),
                "additionalProperties": .bool(false), "minProperties": .integer(1), "maxProperties": .integer(1),
            ])
    }
}

extension SettingDescription {
    /// The schema of the value, with its name, its meaning and its default.
    var schema: JSONValue {
        guard case .object(var schema) = shape.schema(isRequired: isRequired) else { return .object([:]) }
        schema["title"] = .string(title ?? key.replacing("-", with: " ").capitalizedFirst)
        schema["default"] = literal
        let words = literal == nil ? fallback.map { " Default: \($0)." } : nil
        schema["description"] = .string(help + (words ?? ""))
        return .object(schema)
    }

    /// The default as a JSON value; nil for a default in words.
    private var literal: JSONValue? {
        guard let fallback else { return nil }
        if fallback == "true" || fallback == "false" { return .bool(fallback == "true") }
        if let number = Int64(fallback) { return .integer(number) }
        return fallback == "off" || DurationText.duration(fallback) != nil ? .string(fallback) : nil
    }
}

extension String {
    package var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

extension ClosedRange<Int> {
    /// A pattern for texts of the numbers in the range (ECMA-262).
    fileprivate var pattern: String {
        let below = lowerBound < 0 ? Self.pattern(from: Swift.max(1, -upperBound), to: -lowerBound) : nil
        let above = upperBound >= 0 ? Self.pattern(from: Swift.max(0, lowerBound), to: upperBound) : nil
        let zero = contains(0) ? "-0+" : nil
        let signed = [below.map { "-0*(\($0))" }, above.map { "\\+?0*(\($0))" }, zero].compactMap(\.self)
        return "^(\(signed.joined(separator: "|")))$"
    }

    /// Returns a pattern for the digits of the numbers in a range without negative numbers.
    private static func pattern(from least: Int, to most: Int) -> String {
        var parts: [String] = []
        var start = least
        while start <= most {
            // The largest block of numbers that have the same length and the same first digits.
            var size = 1
            while start % (size * 10) == 0, start >= size * 10, start + size * 10 - 1 <= most { size *= 10 }
            var end = start + size - 1
            while end + size <= most, (end + 1) / size % 10 != 0 { end += size }
            let (head, first, last) = (start / size / 10, start / size % 10, end / size % 10)
            let digits = size.description.count - 1
            parts.append(
                (head > 0 ? "\(head)" : "") + (first == last ? "\(first)" : "[\(first)-\(last)]")
                    + (digits == 0 ? "" : "[0-9]{\(digits)}"))
            start = end + 1
        }
        return parts.joined(separator: "|")
    }
}
