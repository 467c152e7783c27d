/// Finds the types and functions among the tokens of a source, and passes over all else.
///
/// It goes forward only and keeps its own stack, so it takes linear time and any depth.
struct DeclarationSkimmer {
    /// What is open around a token.
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

    private let tokens: [Token]
    private let source: [UInt8]
    private var index = 0
    private var frames: [Frame] = []
    private var nextBody: Int?

    init(tokens: [Token], source: [UInt8]) {
        self.tokens = tokens
        self.source = source
    }

    /// Skims the whole source.
    mutating func run() {
        while index < tokens.count {
            let token = tokens[index]
            switch token.kind {
            case .mark:
                index += 1
                readMark(token.mark)
            case .word where isDeclarationPlace && Self.keywords.contains(source[token.start..<token.end]):
                readDeclaration(text(index), at: index)
            default:
                index += 1
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

    /// Whether a declaration can start here: among statements or members, and not as the name of a member.
    private var isDeclarationPlace: Bool {
        if let last = frames.last, last.mark != UInt8(ascii: "{") { return false }
        return index == 0 || tokens[index - 1].mark != UInt8(ascii: ".")
    }

    // MARK: Declarations

    private mutating func readDeclaration(_ keyword: String, at start: Int) {
        index += 1
        guard isName(index) else { return }
        switch keyword {
        case "func": readFunction(at: start)
        case "typealias": readAlias(at: start)
        case "class":
            // `class func` and its like declare a member of the type.
            if tokens[index].kind == .word, Self.memberWords.contains(source[tokens[index].start..<tokens[index].end]) {
                return
            }
            readType(.class, at: start)
        case "actor":
            let next = index + 1 < tokens.count ? tokens[index + 1].mark : 0
            let isType = next == UInt8(ascii: "{") || next == UInt8(ascii: ":") || next == UInt8(ascii: "<")
            if isType, !tokens[index].startsLine { readType(.class, at: start) }
        case "protocol": readType(.protocol, at: start)
        case "extension": readType(.extension, at: start)
        default: readType(.value, at: start)
        }
    }

    private mutating func readType(_ kind: TypeDeclaration.Kind, at start: Int) {
        let modifiers = modifiers(before: start)
        let path = readPath()
        skipGenerics()
        var inherited: [[String]] = []
        if mark(index) == UInt8(ascii: ":") {
            index += 1
            inherited = readInheritance()
        }
        var isConstrained = false
        if isWord(index, "where") {
            isConstrained = true
            while index < tokens.count, !Self.endsHeader(tokens[index].mark) { index += 1 }
        }
        guard mark(index) == UInt8(ascii: "{") else { return }
        let bodyScope = newScope()
        types.append(
            TypeDeclaration(
                kind: kind, path: path, inherited: inherited, isConstrained: isConstrained,
                isPrivate: modifiers.contains("private") || modifiers.contains("fileprivate"),
                scope: scope, bodyScope: bodyScope))
        nextBody = types.count - 1
    }

    private mutating func readAlias(at start: Int) {
        let modifiers = modifiers(before: start)
        let path = readPath()
        skipGenerics()
        guard mark(index) == UInt8(ascii: "=") else { return }
        index += 1
        // Only one name or a composition of names is followed.
        var targets: [[String]] = []
        repeat {
            while isWord(index, "any") { index += 1 }
            guard isName(index) else { return }
            targets.append(readPath())
            skipGenerics()
        } while takeMark(UInt8(ascii: "&"))
        if index < tokens.count, tokens[index].kind == .mark, !tokens[index].startsLine,
            mark(index) != UInt8(ascii: "}"), mark(index) != UInt8(ascii: ";")
        {
            targets = []
        }
        types.append(
            TypeDeclaration(
                kind: .alias, path: path, inherited: targets, isConstrained: false,
                isPrivate: modifiers.contains("private") || modifiers.contains("fileprivate"),
                scope: scope, bodyScope: scope))
    }

    /// The names after the colon of a type; what is no name is left out.
    private mutating func readInheritance() -> [[String]] {
        var inherited: [[String]] = []
        while index < tokens.count {
            let token = tokens[index]
            if token.mark == UInt8(ascii: "@") {
                index += 2
                if mark(index) == UInt8(ascii: "(") { skipBrackets() }
            } else if token.mark == UInt8(ascii: "~") {
                index += 2
            } else if isWord(index, "where") || Self.endsHeader(token.mark) {
                break
            } else if isName(index) {
                if isWord(index, "nonisolated") || isWord(index, "any") || isWord(index, "unsafe") {
                    index += 1
                    continue
                }
                inherited.append(readPath())
                skipGenerics()
            } else if token.kind == .mark, Self.opens(token.mark) {
                skipBrackets()
            } else {
                index += 1
            }
        }
        return inherited
    }

    private mutating func readFunction(at start: Int) {
        let modifiers = modifiers(before: start)
        let startOffset = tokens[start].start
        var signature = FunctionSignature(baseName: text(index))
        index += 1
        if mark(index) == UInt8(ascii: "<") {
            signature.oddities.append("generic")
            skipGenerics()
        }
        guard mark(index) == UInt8(ascii: "("), let parameters = readParameters() else { return }
        signature.parameters = parameters
        if modifiers.contains("static") || modifiers.contains("class") { signature.oddities.append("static") }
        if parameters.contains(where: { $0.type?.canonical.hasPrefix("some ") ?? false }) {
            signature.oddities.append("generic")
        }
        readEffects(into: &signature)
        let isPrivate = modifiers.contains("private") || modifiers.contains("fileprivate")
        let isMember = frames.last.map { $0.type != nil } ?? true
        guard isMember else { return }
        functions.append(
            FunctionDeclaration(
                signature: signature, owner: frames.last?.type, isPrivate: isPrivate,
                isOverride: modifiers.contains("override"), start: startOffset))
    }

    private mutating func readEffects(into signature: inout FunctionSignature) {
        while index < tokens.count {
            if isWord(index, "async") || isWord(index, "reasync") {
                signature.oddities.append("async")
                index += 1
            } else if isWord(index, "throws") || isWord(index, "rethrows") {
                signature.oddities.append("throws")
                index += 1
                if mark(index) == UInt8(ascii: "(") { skipBrackets() }
            } else {
                break
            }
        }
        guard mark(index) == UInt8(ascii: "-"), mark(index + 1) == UInt8(ascii: ">") else { return }
        index += 2
        let start = index
        while index < tokens.count {
            let token = tokens[index]
            if isWord(index, "where") || Self.endsHeader(token.mark) { break }
            // In a protocol nothing but the line ends a declaration.
            if token.startsLine, index > start, mark(index - 1) != UInt8(ascii: ">") { break }
            if token.kind == .mark, Self.opens(token.mark) { skipBrackets() } else { index += 1 }
        }
        signature.result = TypeNameParser.typeName(pieces(start..<index))
    }

    // MARK: Parameters

    /// The parameters between the parentheses that start here; nil where they do not end.
    private mutating func readParameters() -> [FunctionSignature.Parameter]? {
        let open = index
        guard skipBrackets() else { return nil }
        let close = index - 1
        var parameters: [FunctionSignature.Parameter] = []
        var start = open + 1
        var depth = 0
        var angles = 0
        for position in open + 1..<close + 1 {
            let mark = tokens[position].mark
            if position == close || (mark == UInt8(ascii: ",") && depth == 0 && angles == 0) {
                if position > start, let parameter = parameter(start..<position) { parameters.append(parameter) }
                start = position + 1
            } else if Self.opens(mark) {
                depth += 1
            } else if Self.closes(mark) {
                depth -= 1
            } else if depth == 0, mark == UInt8(ascii: "<") {
                angles += 1
            } else if depth == 0, mark == UInt8(ascii: ">"), tokens[position - 1].mark != UInt8(ascii: "-"), angles > 0
            {
                angles -= 1
            }
        }
        return parameters
    }

    private func parameter(_ range: Range<Int>) -> FunctionSignature.Parameter? {
        var position = range.lowerBound
        while position < range.upperBound, tokens[position].mark == UInt8(ascii: "@") {
            position += 2
            guard mark(position) == UInt8(ascii: "(") else { continue }
            while position < range.upperBound, mark(position) != UInt8(ascii: ")") { position += 1 }
            position += 1
        }
        var names: [String] = []
        while position < range.upperBound, isName(position), names.count < 3 {
            names.append(text(position))
            position += 1
        }
        if names.count > 1, Self.oldParameterWords.contains(names[0]) { names.removeFirst() }
        guard let label = names.first, position < range.upperBound, mark(position) == UInt8(ascii: ":") else {
            return nil
        }
        position += 1
        let start = position
        var depth = 0
        while position < range.upperBound {
            let mark = mark(position)
            if Self.opens(mark) { depth += 1 }
            if Self.closes(mark) { depth -= 1 }
            if mark == UInt8(ascii: "="), depth == 0 { break }
            position += 1
        }
        return FunctionSignature.Parameter(
            label: label, name: names.count > 1 ? names[1] : label,
            type: TypeNameParser.typeName(pieces(start..<position)))
    }

    // MARK: Pieces

    /// The words that qualify a declaration, from its keyword backward.
    private func modifiers(before keyword: Int) -> [String] {
        var words: [String] = []
        var position = keyword - 1
        // Nobody writes more, and a bound keeps any source linear.
        let limit = max(0, keyword - 64)
        while position >= limit {
            if mark(position) == UInt8(ascii: ")") {
                while position > limit, mark(position) != UInt8(ascii: "(") { position -= 1 }
                position -= 1
                guard position >= limit else { break }
                if tokens[position].kind == .word, !isAttribute(position) { words.append(text(position) + "()") }
            } else if tokens[position].kind == .word, !isAttribute(position) {
                let word = text(position)
                guard Self.modifiers.contains(source[tokens[position].start..<tokens[position].end]) else { break }
                words.append(word)
            } else if !isAttribute(position), !isAttribute(position + 1) {
                break
            }
            position -= 1
        }
        return words
    }

    private func isAttribute(_ position: Int) -> Bool {
        position > 0 && position < tokens.count && tokens[position].kind == .word
            && mark(position - 1) == UInt8(ascii: "@")
    }

    /// A name with dots; the arguments of its parts are left out.
    private mutating func readPath() -> [String] {
        var path = [text(index)]
        index += 1
        while true {
            let before = index
            if mark(index) == UInt8(ascii: "<") { skipGenerics() }
            guard mark(index) == UInt8(ascii: "."), isName(index + 1) else {
                index = before
                return path
            }
            path.append(text(index + 1))
            index += 2
        }
    }

    /// Steps over what stands in angle brackets, if they start here and close before a body does.
    private mutating func skipGenerics() {
        guard mark(index) == UInt8(ascii: "<") else { return }
        var depth = 0
        while index < tokens.count {
            let mark = tokens[index].mark
            if mark == UInt8(ascii: "<") {
                depth += 1
            } else if mark == UInt8(ascii: ">"), tokens[index - 1].mark != UInt8(ascii: "-") {
                depth -= 1
                if depth == 0 {
                    index += 1
                    return
                }
            } else if Self.endsHeader(mark) {
                return
            }
            index += 1
        }
    }

    /// Steps over a pair of brackets and all between them, and tells whether they close.
    @discardableResult
    private mutating func skipBrackets() -> Bool {
        var depth = 0
        while index < tokens.count {
            let mark = tokens[index].mark
            index += 1
            if Self.opens(mark) {
                depth += 1
            } else if Self.closes(mark) {
                depth -= 1
                if depth == 0 { return true }
            }
        }
        return false
    }

    private func pieces(_ range: Range<Int>) -> [String] {
        var pieces: [String] = []
        var position = range.lowerBound
        while position < range.upperBound {
            if mark(position) == UInt8(ascii: "-"), mark(position + 1) == UInt8(ascii: ">") {
                pieces.append("->")
                position += 2
            } else if mark(position) == UInt8(ascii: "."), mark(position + 1) == UInt8(ascii: ".") {
                pieces.append("...")
                position += 3
            } else {
                pieces.append(text(position))
                position += 1
            }
        }
        return pieces
    }

    private func text(_ position: Int) -> String {
        String(decoding: source[tokens[position].start..<tokens[position].end], as: UTF8.self)
    }

    private func mark(_ position: Int) -> UInt8 {
        position >= 0 && position < tokens.count ? tokens[position].mark : 0
    }

    private mutating func takeMark(_ expected: UInt8) -> Bool {
        guard mark(index) == expected else { return false }
        index += 1
        return true
    }

    private func isName(_ position: Int) -> Bool {
        position < tokens.count && (tokens[position].kind == .word || tokens[position].kind == .quotedWord)
    }

    private func isWord(_ position: Int, _ word: String) -> Bool {
        guard position < tokens.count, tokens[position].kind == .word else { return false }
        return source[tokens[position].start..<tokens[position].end].elementsEqual(word.utf8)
    }

    private static func opens(_ mark: UInt8) -> Bool {
        mark == UInt8(ascii: "(") || mark == UInt8(ascii: "[") || mark == UInt8(ascii: "{")
    }

    private static func closes(_ mark: UInt8) -> Bool {
        mark == UInt8(ascii: ")") || mark == UInt8(ascii: "]") || mark == UInt8(ascii: "}")
    }

    private static func endsHeader(_ mark: UInt8) -> Bool {
        mark == UInt8(ascii: "{") || mark == UInt8(ascii: "}") || mark == UInt8(ascii: ";")
    }

    private static let keywords = WordSet([
        "class", "struct", "enum", "actor", "protocol", "extension", "func", "typealias",
    ])

    private static let memberWords = WordSet([
        "func", "var", "let", "subscript", "init", "override", "public", "internal", "private", "fileprivate",
        "package",
        "open", "final", "nonisolated", "dynamic", "async",
    ])

    private static let modifiers = WordSet([
        "open", "public", "package", "internal", "fileprivate", "private", "static", "class", "final", "override",
        "nonisolated", "isolated", "mutating", "nonmutating", "dynamic", "optional", "required", "convenience",
        "distributed", "indirect", "prefix", "postfix", "infix", "consuming", "borrowing", "unsafe", "weak", "lazy",
    ])

    /// What once stood before a parameter's name.
    private static let oldParameterWords: Set<String> = ["var", "let", "inout", "isolated"]
}
