/// A type as a source spells it, and in the one spelling that all equal ones share.
struct TypeName: Hashable, Sendable {
    /// The type as it is written, with even spaces.
    var text: String

    /// The type in its one spelling: no module names, no `any`, sugar for optionals, arrays and dictionaries.
    var canonical: String

    /// The names in it, without those of modules.
    var names: [String]

    /// No result.
    static let void = TypeName(text: "Void", canonical: "()", names: [])

    /// Returns whether two types are the same; nil where it hangs on a name that could be an alias.
    func isEqual(to other: TypeName, isType: (String) -> Bool) -> Bool? {
        if canonical == other.canonical { return true }
        return names.allSatisfy(isType) ? false : nil
    }
}

/// A parser of a type from the words and marks that spell it.
struct TypeNameParser {
    private let pieces: [String]
    private var index = 0
    private var names: [String] = []

    private init(_ pieces: [String]) {
        self.pieces = pieces
    }

    /// Returns the type, or nil where there is none; what is too strange to be read is its own spelling.
    static func typeName(_ pieces: [String]) -> TypeName? {
        if pieces.isEmpty { return nil }
        var parser = TypeNameParser(pieces)
        let text = spelled(pieces)
        if let canonical = parser.type(depth: 0), parser.index == pieces.count {
            return TypeName(text: text, canonical: canonical, names: parser.names)
        }
        // A name that nobody declares leaves the question open.
        return TypeName(text: text, canonical: text, names: [""])
    }

    private static func spelled(_ pieces: [String]) -> String {
        var text = ""
        var lastIsWord = false
        for piece in pieces {
            let startsWord = isName(piece)
            if lastIsWord, startsWord || piece == "(" { text += " " }
            if piece == "&" || piece == "->" { text += " " }
            text += piece
            if piece == ":" || piece == "," || piece == "&" || piece == "->" { text += " " }
            lastIsWord = startsWord
        }
        return text
    }

    private mutating func type(depth: Int) -> String? {
        guard depth < 32 else { return nil }
        var prefix = ""
        while let piece = peek {
            if piece == "@" {
                index += 2
                if peek == "(" { return nil }
            } else if Self.skippedWords.contains(piece) {
                index += 1
            } else if piece == "inout" || piece == "some" || piece == "repeat" || piece == "each" {
                prefix += piece + " "
                index += 1
            } else {
                break
            }
        }
        guard var result = primary(depth: depth) else { return nil }
        while let piece = peek {
            switch piece {
            case "?", "!":
                result += piece
            case "...":
                result += piece
            case "&":
                index += 1
                guard let next = type(depth: depth + 1) else { return nil }
                result += "&" + next
                continue
            case "async", "throws":
                result += " " + piece
            case "->":
                index += 1
                guard let next = type(depth: depth + 1) else { return nil }
                return prefix + "(" + result + ")->" + next
            default:
                return prefix + result
            }
            index += 1
        }
        return prefix + result
    }

    private mutating func primary(depth: Int) -> String? {
        guard let piece = peek else { return nil }
        index += 1
        switch piece {
        case "(":
            guard let elements = list(until: ")", depth: depth) else { return nil }
            return elements.count == 1 ? elements[0] : "(" + elements.joined(separator: ",") + ")"
        case "[":
            guard let first = type(depth: depth + 1) else { return nil }
            if take(":") {
                guard let second = type(depth: depth + 1), take("]") else { return nil }
                return "[" + first + ":" + second + "]"
            }
            return take("]") ? "[" + first + "]" : nil
        default:
            return name(piece, depth: depth)
        }
    }

    private mutating func name(_ first: String, depth: Int) -> String? {
        guard Self.isName(first) else { return nil }
        var path = [first]
        var result = ""
        while true {
            if take("<") {
                guard let arguments = list(until: ">", depth: depth) else { return nil }
                return generic(path: path, arguments: arguments)
            }
            guard peek == ".", index + 1 < pieces.count, Self.isName(pieces[index + 1]) else { break }
            path.append(pieces[index + 1])
            index += 2
        }
        if path.count > 1, Self.modules.contains(path[0]) { path.removeFirst() }
        if path == ["Void"] { return "()" }
        names += path
        result = path.joined(separator: ".")
        return Self.aliases[result] ?? result
    }

    private mutating func generic(path: [String], arguments: [String]) -> String? {
        var path = path
        if path.count > 1, Self.modules.contains(path[0]) { path.removeFirst() }
        switch (path, arguments.count) {
        case (["Optional"], 1): return arguments[0] + "?"
        case (["Array"], 1): return "[" + arguments[0] + "]"
        case (["Dictionary"], 2): return "[" + arguments[0] + ":" + arguments[1] + "]"
        default:
            names += path
            return path.joined(separator: ".") + "<" + arguments.joined(separator: ",") + ">"
        }
    }

    private mutating func list(until end: String, depth: Int) -> [String]? {
        var elements: [String] = []
        if take(end) { return elements }
        while true {
            // The labels of a tuple are no part of what is compared here.
            if index + 1 < pieces.count, pieces[index + 1] == ":", Self.isName(pieces[index]) { index += 2 }
            guard let element = type(depth: depth + 1) else { return nil }
            elements.append(element)
            if take(end) { return elements }
            guard take(",") else { return nil }
        }
    }

    private var peek: String? { index < pieces.count ? pieces[index] : nil }

    private mutating func take(_ piece: String) -> Bool {
        guard peek == piece else { return false }
        index += 1
        return true
    }

    private static func isName(_ piece: String) -> Bool {
        guard let first = piece.utf8.first else { return false }
        return first >= 0x80 || first == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first)
            || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first)
    }

    private static let modules: Set<String> = [
        "CoreLocation", "CoreBluetooth", "Foundation", "Swift", "ObjectiveC", "CoreFoundation", "FoundationEssentials",
    ]

    /// The words that do not change which method a call reaches.
    private static let skippedWords: Set<String> = [
        "any", "borrowing", "consuming", "sending", "isolated", "__owned", "__shared", "nonisolated",
    ]

    /// Names of Apple's for other types that delegate methods have.
    private static let aliases = ["CFAbsoluteTime": "Double", "TimeInterval": "Double", "CBL2CAPPSM": "UInt16"]
}
