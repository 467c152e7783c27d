/// A finder of the types and functions among the tokens of a source, which skips all else.
///
/// It moves forward only and keeps its own stack, so it takes linear time and any depth.
struct DeclarationSkimmer {
    /// An open pair of brackets around a token.
    private struct Frame {
        /// The mark that opened it.
        var mark: UInt8

        /// The type whose body it is, if it is one.
        var type: Int?

        /// The scope of names declared in it.
        var scope: Int
    }

    private(set) var types: [TypeDeclaration] = []
    private(set) var functions: [FunctionDeclaration] = []
    private(set) var scopes = [0]

    private var cursor: TokenCursor
    private var frames: [Frame] = []
    private var nextBody: Int?

    init(tokens: [Token], source: [UInt8]) {
        cursor = TokenCursor(tokens: tokens, source: source)
    }

    /// Skims the whole source.
    mutating func run() {
        while let token = cursor.next {
            switch token.kind {
            case .mark:
                cursor.index += 1
                readMark(token.mark)
            case .word where isDeclarationPlace && cursor.isWord(cursor.index, in: Self.keywords):
                readDeclaration(cursor.text(cursor.index), at: cursor.index)
            default:
                cursor.index += 1
            }
        }
    }

    // MARK: Nesting

    private mutating func readMark(_ mark: UInt8) {
        switch mark {
        case UInt8(ascii: "{"):
            let scope: Int
            if let nextBody {
                scope = types[nextBody].bodyScope
            } else {
                scope = newScope()
            }
            frames.append(Frame(mark: mark, type: nextBody, scope: scope))
            nextBody = nil
        case UInt8(ascii: "("), UInt8(ascii: "["):
            frames.append(Frame(mark: mark, type: nil, scope: scope))
        case UInt8(ascii: ")"), UInt8(ascii: "]"):
            if let last = frames.last, last.mark != UInt8(ascii: "{") { frames.removeLast() }
        case UInt8(ascii: "}"):
            // A parenthesis left open ends with the braces around it.
            while let last = frames.popLast(), last.mark != UInt8(ascii: "{") {}
        default:
            break
        }
    }

    private var scope: Int { frames.last?.scope ?? 0 }

    private mutating func newScope() -> Int {
        scopes.append(scope)
        return scopes.count - 1
    }

    /// A Boolean value that indicates whether a declaration can start here: among statements or members, and not as the
    /// name of a member.
    private var isDeclarationPlace: Bool {
        if let last = frames.last, last.mark != UInt8(ascii: "{") { return false }
        return cursor.index == 0 || cursor.tokens[cursor.index - 1].mark != UInt8(ascii: ".")
    }

    // MARK: Declarations

    private mutating func readDeclaration(_ keyword: String, at start: Int) {
        cursor.index += 1
        guard cursor.isName(cursor.index) else { return }
        switch keyword {
        case "func": readFunction(at: start)
        case "typealias": readAlias(at: start)
        case "class":
            // `class func` and its like declare a member of the type.
            if cursor.isWord(cursor.index, in: Self.memberWords) {
                return
            }
            readType(.class, at: start)
        case "actor":
            let next = cursor.index + 1 < cursor.tokens.count ? cursor.tokens[cursor.index + 1].mark : 0
            let isType = next == UInt8(ascii: "{") || next == UInt8(ascii: ":") || next == UInt8(ascii: "<")
            if isType, !cursor.tokens[cursor.index].startsLine { readType(.class, at: start) }
        case "protocol": readType(.protocol, at: start)
        case "extension": readType(.extension, at: start)
        default: readType(.value, at: start)
        }
    }

    private mutating func readType(_ kind: TypeDeclaration.Kind, at start: Int) {
        let modifiers = cursor.modifiers(before: start)
        let path = cursor.readPath()
        cursor.skipGenerics()
        var inherited: [[String]] = []
        if cursor.mark(cursor.index) == UInt8(ascii: ":") {
            cursor.index += 1
            inherited = readInheritance()
        }
        var isConstrained = false
        if cursor.isWord(cursor.index, "where") {
            isConstrained = true
            while cursor.index < cursor.tokens.count, !TokenCursor.endsHeader(cursor.tokens[cursor.index].mark) {
                cursor.index += 1
            }
        }
        guard cursor.mark(cursor.index) == UInt8(ascii: "{") else { return }
        let bodyScope = newScope()
        types.append(
            TypeDeclaration(
                kind: kind, path: path, inherited: inherited, isConstrained: isConstrained,
                isPrivate: modifiers.contains("private") || modifiers.contains("fileprivate"),
                scope: scope, bodyScope: bodyScope))
        nextBody = types.count - 1
    }

    private mutating func readAlias(at start: Int) {
        let modifiers = cursor.modifiers(before: start)
        let path = cursor.readPath()
        cursor.skipGenerics()
        guard cursor.mark(cursor.index) == UInt8(ascii: "=") else { return }
        cursor.index += 1
        // Only one name or a composition of names is followed.
        var targets: [[String]] = []
        repeat {
            while cursor.isWord(cursor.index, "any") { cursor.index += 1 }
            guard cursor.isName(cursor.index) else { return }
            targets.append(cursor.readPath())
            cursor.skipGenerics()
        } while cursor.takeMark(UInt8(ascii: "&"))
        if cursor.index < cursor.tokens.count, cursor.tokens[cursor.index].kind == .mark,
            !cursor.tokens[cursor.index].startsLine,
            cursor.mark(cursor.index) != UInt8(ascii: "}"), cursor.mark(cursor.index) != UInt8(ascii: ";")
        {
            targets = []
        }
        types.append(
            TypeDeclaration(
                kind: .alias, path: path, inherited: targets, isConstrained: false,
                isPrivate: modifiers.contains("private") || modifiers.contains("fileprivate"),
                scope: scope, bodyScope: scope))
    }

    /// Reads the names after the colon of a type; what is no name is left out.
    private mutating func readInheritance() -> [[String]] {
        var inherited: [[String]] = []
        while let token = cursor.next {
            if token.mark == UInt8(ascii: "@") {
                cursor.index += 2
                if cursor.mark(cursor.index) == UInt8(ascii: "(") { cursor.skipBrackets() }
            } else if token.mark == UInt8(ascii: "~") {
                cursor.index += 2
            } else if cursor.isWord(cursor.index, "where") || TokenCursor.endsHeader(token.mark) {
                break
            } else if cursor.isName(cursor.index) {
                if cursor.isWord(cursor.index, "nonisolated") || cursor.isWord(cursor.index, "any")
                    || cursor.isWord(cursor.index, "unsafe")
                {
                    cursor.index += 1
                    continue
                }
                inherited.append(cursor.readPath())
                cursor.skipGenerics()
            } else if token.kind == .mark, TokenCursor.opens(token.mark) {
                cursor.skipBrackets()
            } else {
                cursor.index += 1
            }
        }
        return inherited
    }

    private mutating func readFunction(at start: Int) {
        let modifiers = cursor.modifiers(before: start)
        let startOffset = cursor.tokens[start].start
        guard let signature = cursor.readSignature(modifiers: modifiers) else { return }
        let isPrivate = modifiers.contains("private") || modifiers.contains("fileprivate")
        let isMember = frames.last.map { $0.type != nil } ?? true
        guard isMember else { return }
        functions.append(
            FunctionDeclaration(
                signature: signature, owner: frames.last?.type, isPrivate: isPrivate,
                isOverride: modifiers.contains("override"), start: startOffset))
    }

    private static let keywords = WordSet([
        "class", "struct", "enum", "actor", "protocol", "extension", "func", "typealias",
    ])

    private static let memberWords = WordSet([
        "func", "var", "let", "subscript", "init", "override", "public", "internal", "private", "fileprivate",
        "package",
        "open", "final", "nonisolated", "dynamic", "async",
    ])
}
