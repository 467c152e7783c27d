package import BeaconModel
import Yams

/// A YAML file: its content, and the location of each value in it.
package struct YAMLDocument {
    /// A step from a value to one inside it.
    package enum Step: Hashable, Sendable {
        case key(String)
        case item(Int)
    }

    /// The file's content; nil if it is empty or not YAML.
    package var content: JSONValue? { root.map(JSONValue.init) }

    private let root: Node?

    /// The faults in its YAML.
    package let diagnostics: [Diagnostic]

    /// The character that replaces the first letter of a duplicate key after the report, so that the rest of the file
    /// can be checked. Unicode reserves it for private use.
    fileprivate static let hidden: Character = "\u{E000}"

    /// The most duplicate keys to report. A file with more is not a configuration.
    private static let maximumDuplicates = 100

    /// The most aliases in a file. Each stands for everything in its anchor, including other aliases. 32 of them make
    /// at most about 100 000 nodes of a file; a few hundred make more than any machine can hold.
    private static let maximumAliases = 32

    /// Reads a file's text.
    package init(_ text: String) {
        if let location = Self.excessiveAlias(in: text) {
            root = nil
            diagnostics = [
                Diagnostic(
                    .file(location),
                    "there are more than \(Self.maximumAliases) aliases (*name); write their values out")
            ]
            return
        }
        var text = text
        var diagnostics: [Diagnostic] = []
        for _ in 0...Self.maximumDuplicates {
            do {
                let root = try compose(yaml: text)
                diagnostics += Self.faults(in: root)
                self.root = root
                self.diagnostics = diagnostics
                return
            } catch YamlError.duplicatedKeysInMapping(let keys, let context) {
                let key = keys.first ?? ""
                let location = SourceLocation(context.mark)
                diagnostics.append(
                    Diagnostic(
                        .file(location), "\"\(key)\" is given more than once in the same mapping; keep one of them"))
                guard Self.hide(location, in: &text) else { break }
            } catch {
                diagnostics.append(Self.diagnostic(error))
                break
            }
        }
        root = nil
        self.diagnostics = diagnostics
    }

    /// Returns the location of the first alias over the limit; nil if there is none.
    ///
    /// It searches the text for anchors (`&name`) and aliases (`*name`) before it is parsed. The YAML parser replaces
    /// aliases, and compares their contents if they are keys.
    private static func excessiveAlias(in text: String) -> SourceLocation? {
        let text = text.replacing("\r\n", with: "\n")
        let words = text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap { number, line in
            line.split { $0.isWhitespace || ",[]{}".contains($0) }.map { (number: number + 1, line: line, word: $0) }
        }
        // The word may be a key with its colon.
        func name(_ word: Substring) -> Substring {
            word.dropFirst().hasSuffix(":") ? word.dropFirst().dropLast() : word.dropFirst()
        }
        let anchors = Set(words.lazy.filter { $0.word.hasPrefix("&") }.map { name($0.word) })
        guard !anchors.isEmpty else { return nil }
        let aliases = words.filter { $0.word.hasPrefix("*") && anchors.contains(name($0.word)) }
        guard aliases.count > maximumAliases else { return nil }
        let excess = aliases[maximumAliases]
        let column = excess.line.unicodeScalars.distance(from: excess.line.startIndex, to: excess.word.startIndex)
        return SourceLocation(line: excess.number, column: column + 1)
    }

    /// Returns the location of a value, or of its key; the start of the file for a value that is not in it.
    package func location(of steps: [Step], isKey: Bool = false) -> SourceLocation {
        var (node, key) = (root, Node?.none)
        for step in steps {
            switch (step, node) {
            case (.key(let name), .mapping(let mapping)?):
                let pair = mapping.first { $0.key.scalar?.string == name }
                (node, key) = (pair?.value, pair?.key)
            case (.item(let number), .sequence(let items)?):
                (node, key) = (items.indices.contains(number) ? items[number] : nil, nil)
            default: (node, key) = (nil, nil)
            }
        }
        return (isKey ? key : node)?.location ?? SourceLocation(line: 1, column: 1)
    }

    /// Returns diagnostics of keys that are not words, and of tags, such as Home Assistant's `!secret`, which have no
    /// meaning here.
    private static func faults(in node: Node?) -> [Diagnostic] {
        var faults: [Diagnostic] = []
        let (tag, inner): (Tag?, [Node])
        switch node {
        case .mapping(let mapping):
            (tag, inner) = (mapping.tag, mapping.flatMap { [$0.key, $0.value] })
            for key in mapping.keys where key.scalar == nil {
                faults.append(
                    Diagnostic(.file(key.location), "a key is \(JSONValue(key).summary); write a word"))
            }
        case .sequence(let sequence): (tag, inner) = (sequence.tag, Array(sequence))
        case .scalar(let scalar): (tag, inner) = (scalar.tag, [])
        case .alias, nil: (tag, inner) = (nil, [])
        }
        guard let node, let name = tag?.description, name.hasPrefix("!"), name != "!" else {
            return faults + inner.flatMap { Self.faults(in: $0) }
        }
        let isSecret = name == "!secret" || name == "!env_var"
        let remedy = isSecret ? "for a secret, write { file: PATH } or { env: NAME }" : "write the value itself"
        return [Diagnostic(.file(node.location), "\"\(name)\" is not supported here; \(remedy)")]
    }

    /// Hides the first letter of a key.
    private static func hide(_ location: SourceLocation, in text: inout String) -> Bool {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.indices.contains(location.line - 1) else { return false }
        var scalars = Array(lines[location.line - 1].unicodeScalars)
        var column = location.column - 1
        if scalars.indices.contains(column), scalars[column] == "\"" || scalars[column] == "'" { column += 1 }
        guard scalars.indices.contains(column), let mark = hidden.unicodeScalars.first else { return false }
        scalars[column] = mark
        var line = String.UnicodeScalarView()
        line.append(contentsOf: scalars)
        lines[location.line - 1] = String(line)
        text = lines.joined(separator: "\n")
        return true
    }

    private static func diagnostic(_ error: any Error) -> Diagnostic {
        let start = SourceLocation(line: 1, column: 1)
        switch error {
        case YamlError.scanner(let context, let problem, let mark, _),
            YamlError.parser(let context, let problem, let mark, _),
            YamlError.composer(let context, let problem, let mark, _):
            var message = "this is not YAML: \(problem)"
            if let context { message += " (\(context.text), which began in line \(context.mark.line))" }
            if problem.contains("character that cannot start any token") {
                message += ". Indent with spaces, not with tabs, and put text with special characters into quotes"
            }
            return Diagnostic(.file(SourceLocation(mark)), message)
        case YamlError.reader(let problem, _, _, _):
            return Diagnostic(.file(start), "this is not YAML: \(problem)")
        default:
            return Diagnostic(.file(start), "this is not YAML: \(error)")
        }
    }
}

extension SourceLocation {
    /// Creates the location of a mark. A mark that was never set means the start of the file.
    fileprivate init(_ mark: Mark) { self.init(line: max(1, mark.line), column: max(1, mark.column)) }
}

extension Node {
    fileprivate var location: SourceLocation { mark.map(SourceLocation.init) ?? SourceLocation(line: 1, column: 1) }
}

extension JSONValue {
    /// Creates the value of a node. A scalar without quotes is a number or Boolean value if its text is the same again.
    fileprivate init(_ node: Node) {
        switch node {
        case .scalar(let scalar):
            let text = scalar.string
            if scalar.style != .plain, scalar.style != .any {
                self = .string(text)
            } else if ["", "~", "null", "Null", "NULL"].contains(text) {
                self = .null
            } else if let number = Int64(text), "\(number)" == text {
                self = .integer(number)
            } else {
                self = text == "true" || text == "false" ? .bool(text == "true") : .string(text)
            }
        case .sequence(let nodes): self = .array(nodes.map(JSONValue.init))
        case .mapping(let pairs):
            // Faults of other keys are reported by the document.
            let named = pairs.compactMap { pair in
                pair.key.scalar.flatMap {
                    $0.string.contains(YAMLDocument.hidden) ? nil : ($0.string, JSONValue(pair.value))
                }
            }
            self = .object(Dictionary(named) { first, _ in first })
        case .alias: self = .null
        }
    }

    /// The text of a value that is neither null, a mapping nor a list.
    package var scalarText: String? {
        switch self {
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let text): text
        case .null, .array, .object: nil
        }
    }

    /// A description of the value for messages.
    package var summary: String {
        switch self {
        case .object: "a mapping"
        case .array: "a list"
        default: scalarText.map { "\"\($0.count > 60 ? $0.prefix(57) + "…" : $0[...])\"" } ?? "empty"
        }
    }
}
