import BeaconSupport

/// The description of a key, for the reference in the docs, editors and forms.
package struct SettingDescription: Sendable {
    /// The key.
    package var key: String
    /// A short name for forms; nil for one that is made of the key.
    package var title: String?
    /// Its meaning, in a sentence.
    package var help: String
    /// The shape of the value.
    package var shape: SettingShape
    /// True where it has to be there.
    package var isRequired: Bool
    /// The default for people; nil for no default.
    package var fallback: String?
    /// The version that had it first.
    package var since = Self.first

    /// The first version.
    static let first = "0.1.0"
}

/// A shape of values of the configuration.
package indirect enum SettingShape: Sendable {
    /// A text, with the longest in characters and a pattern (ECMA-262).
    case text(shortest: Int = 0, longest: Int? = nil, pattern: String? = nil)
    /// A whole number, with the unit behind it.
    case integer(ClosedRange<Int>, unit: String)
    /// A number, or a text of one.
    case number(above: Double)
    /// True or false.
    case boolean
    /// A span of time.
    case duration(ClosedRange<Duration>)
    /// A number of bytes.
    case bytes(ClosedRange<Int>)
    /// One of several words.
    case words([String])
    /// Several values, at least so many, or a single one.
    case list(SettingShape, shortest: Int = 0, isUnique: Bool = false)
    /// A point in metres.
    case point
    /// A web address, which may be given as secrets are.
    case url
    /// A secret: `{ env: NAME }` or `{ file: PATH }`.
    case secret
    /// The path of a file.
    case path
    /// A mapping of known keys. Of some of them, one has to be there.
    case mapping([SettingDescription], oneOf: [String] = [])
    /// A mapping of names that the user chooses.
    case pairs(SettingShape, most: Int, longest: Int)
    /// A list of mappings that are known.
    case items(SettingShape)
    /// One of several.
    case either([SettingShape])
    /// A mapping whose further keys follow from the word that one key has.
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

    /// The shape without a word that its unit names beside the numbers, for messages.
    func without(_ word: String) -> SettingShape {
        guard case .integer(let range, let unit) = self else { return self }
        return .integer(range, unit: unit.replacing(", or \(word)", with: ""))
    }

    /// The shape in words, for people.
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
        case .list(let shape, _, _): "list of \(shape.words)"
        case .point: "[x, y] in metres"
        case .url: "address"
        case .secret: "secret"
        case .mapping, .variants: "mapping"
        case .pairs: "names with values"
        case .items(.either): "list of texts and mappings"
        case .items: "list of mappings"
        case .either(let shapes): shapes.map(\.words).joined(separator: ", or ")
        }
    }
}
