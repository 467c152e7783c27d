import BeaconSupport

/// The description of a key, for the reference in the docs, editors and forms.
package struct SettingDescription: Sendable {
    /// The key.
    package var key: String
    /// A short name for forms; nil to derive it from the key.
    package var title: String?
    /// Its meaning, in a sentence.
    package var help: String
    /// The shape of the value.
    package var shape: SettingShape
    /// True if the key is required.
    package var isRequired: Bool
    /// The default for people; nil for no default.
    package var fallback: String?
}

/// A shape of values of the configuration.
package indirect enum SettingShape: Sendable {
    /// A text, with its length in characters and a pattern (ECMA-262).
    case text(shortest: Int = 0, longest: Int? = nil, pattern: String? = nil)
    /// A whole number, with the unit after it.
    case integer(ClosedRange<Int>, unit: String)
    /// A number, or a text of a number.
    case number(above: Double)
    /// True or false.
    case boolean
    /// A span of time.
    case duration(ClosedRange<Duration>)
    /// A number of bytes.
    case bytes(ClosedRange<Int>)
    /// One of several words.
    case words([String])
    /// Several values, with a minimum number of them, or a single one.
    case list(SettingShape, shortest: Int = 0, isUnique: Bool = false)
    /// A point in meters.
    case point
    /// A web address, which can be given like a secret.
    case url
    /// A secret: `{ env: NAME }`, `{ file: PATH }` or `{ secret: NAME }`.
    case secret
    /// The path of a file.
    case path
    /// A mapping of known keys. One of the keys in `oneOf` is required.
    case mapping([SettingDescription], oneOf: [String] = [])
    /// A mapping of names that the user chooses.
    case pairs(SettingShape, most: Int, longest: Int)
    /// A list of mappings with known keys.
    case items(SettingShape)
    /// One of several.
    case either([SettingShape])
    /// A mapping whose other keys depend on the word of one key.
    case variants([SettingDescription], key: String, [(word: String, keys: [SettingDescription])])
}

extension SettingShape {
    /// The mappings inside. The reference has a table for each.
    var mappings: [(word: String?, keys: [SettingDescription])] {
        switch self {
        case .mapping(let keys, _): [(nil, keys)]
        case .items(let item): item.mappings
        case .either(let shapes): shapes.flatMap(\.mappings)
        case .variants(let keys, _, let variants): [(nil, keys)] + variants.map { ($0.word, $0.keys) }
        case .list(let shape, _, _): shape.mappings
        default: []
        }
    }

    /// Returns the shape without a word that its unit lists after the numbers, for messages.
    func without(_ word: String) -> SettingShape {
        guard case .integer(let range, let unit) = self else { return self }
        return .integer(range, unit: unit.replacing(", or \(word)", with: ""))
    }

    /// The shape as text for people.
    var words: String {
        switch self {
        case .text: "text"
        case .path: "path"
        case .integer(let range, let unit): "\(range.lowerBound) to \(range.upperBound)\(unit)"
        case .number: "number"
        case .boolean: "`true`, `false`"
        case .duration(let range): "\(DurationText.text(range.lowerBound)) to \(DurationText.text(range.upperBound))"
        case .bytes(let range): "\(SizeText.text(range.lowerBound)) to \(SizeText.text(range.upperBound))"
        case .words(let words): words.map { "`\($0)`" }.joined(separator: ", ")
        case .list(.text, _, _): "list"
        case .list(.secret, _, _): "secret, or list of secrets"
        case .list(let shape, _, _): "list of \(shape.words)"
        case .point: "[x, y] in meters"
        case .url: "address"
        case .secret: "secret"
        case .mapping, .variants: "mapping"
        case .pairs: "names with values"
        case .items(.either): "list of texts and mappings"
        case .items(.text): "list"
        case .items: "list of mappings"
        case .either(let shapes): shapes.map(\.words).joined(separator: ", or ")
        }
    }
}
