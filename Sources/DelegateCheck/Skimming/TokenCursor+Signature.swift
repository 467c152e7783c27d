extension TokenCursor {
    /// Reads a function from its name to its result.
    ///
    /// - Parameter modifiers: the words before its `func`.
    /// - Returns: nil where its parameters do not end.
    mutating func readSignature(modifiers: [String]) -> FunctionSignature? {
        var signature = FunctionSignature(baseName: text(index))
        index += 1
        if mark(index) == UInt8(ascii: "<") {
            signature.oddities.append("generic")
            skipGenerics()
        }
        guard mark(index) == UInt8(ascii: "("), let parameters = readParameters() else { return nil }
        signature.parameters = parameters
        if modifiers.contains("static") || modifiers.contains("class") { signature.oddities.append("static") }
        if parameters.contains(where: { $0.type?.canonical.hasPrefix("some ") ?? false }) {
            signature.oddities.append("generic")
        }
        readEffects(into: &signature)
        return signature
    }

    /// Reads `async`, `throws` and the result.
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

    /// Returns the parameters between the parentheses that start here; nil where they do not end.
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

    /// The words that once stood before a parameter's name.
    private static let oldParameterWords: Set<String> = ["var", "let", "inout", "isolated"]
}
