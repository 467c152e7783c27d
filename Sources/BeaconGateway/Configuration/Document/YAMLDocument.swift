import Yams

/// A file of YAML whose nodes know their places.
struct YAMLDocument {
    /// What the file holds; nil where it is empty or cannot be read as YAML at all.
    let root: Node?

    /// What is wrong with it as YAML.
    let mistakes: [Mistake]

    /// A key that was given twice is told and then hidden behind this character, which is Unicode's for private use, so
    /// that the rest of the file can be checked.
    static let hidden: Character = "\u{E000}"

    /// So many keys that are given twice are told; a file with more is no configuration.
    private static let mostDuplicates = 100

    /// Reads a file's text.
    init(_ text: String) {
        var text = text
        var mistakes: [Mistake] = []
        for _ in 0...Self.mostDuplicates {
            do {
                root = try compose(yaml: text)
                self.mistakes = mistakes
                return
            } catch YamlError.duplicatedKeysInMapping(let keys, let context) {
                let key = keys.first ?? ""
                let place = Place(context.mark)
                mistakes.append(
                    Mistake(.file(place), "\"\(key)\" is given more than once in the same mapping; keep one of them"))
                guard Self.hide(place, in: &text) else { break }
            } catch {
                mistakes.append(Self.mistake(error))
                break
            }
        }
        root = nil
        self.mistakes = mistakes
    }

    /// Hides the first letter of a key.
    private static func hide(_ place: Place, in text: inout String) -> Bool {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.indices.contains(place.line - 1) else { return false }
        var scalars = Array(lines[place.line - 1].unicodeScalars)
        var column = place.column - 1
        if scalars.indices.contains(column), scalars[column] == "\"" || scalars[column] == "'" { column += 1 }
        guard scalars.indices.contains(column), let mark = hidden.unicodeScalars.first else { return false }
        scalars[column] = mark
        var line = String.UnicodeScalarView()
        line.append(contentsOf: scalars)
        lines[place.line - 1] = String(line)
        text = lines.joined(separator: "\n")
        return true
    }

    private static func mistake(_ error: any Error) -> Mistake {
        let start = Place(line: 1, column: 1)
        switch error {
        case YamlError.scanner(let context, let problem, let mark, _),
            YamlError.parser(let context, let problem, let mark, _),
            YamlError.composer(let context, let problem, let mark, _):
            var message = "this is not YAML: \(problem)"
            if let context { message += " (\(context.text), which began in line \(context.mark.line))" }
            if problem.contains("character that cannot start any token") {
                message += ". Indent with spaces, not with tabs, and put text with special characters into quotes"
            }
            return Mistake(.file(Place(mark)), message)
        case YamlError.reader(let problem, _, _, _):
            return Mistake(.file(start), "this is not YAML: \(problem)")
        default:
            return Mistake(.file(start), "this is not YAML: \(error)")
        }
    }
}

extension Place {
    /// The place of a mark. A mark that was never set is that of the beginning.
    init(_ mark: Mark) { self.init(line: max(1, mark.line), column: max(1, mark.column)) }
}

extension Node {
    /// Where the node begins.
    var place: Place { mark.map(Place.init) ?? Place(line: 1, column: 1) }

    /// What the node is, for messages.
    var summary: String {
        switch self {
        case .scalar(let scalar):
            isNothing
                ? "empty" : "\"\(scalar.string.count > 60 ? scalar.string.prefix(57) + "…" : scalar.string[...])\""
        case .mapping: "a mapping"
        case .sequence: "a list"
        case .alias: "an alias"
        }
    }

    /// Whether nothing was written, or `null` or `~`.
    var isNothing: Bool {
        guard case .scalar(let scalar) = self, scalar.style == .plain || scalar.style == .any else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }
}
