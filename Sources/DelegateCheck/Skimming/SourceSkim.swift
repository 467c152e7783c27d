/// The declarations of a source, and its conditions.
struct SourceSkim {
    /// The file.
    var path: String

    /// The types, extensions and aliases that Linux sees.
    var types: [TypeDeclaration] = []

    /// The functions that Linux sees.
    var functions: [FunctionDeclaration] = []

    /// The parent of each scope; the first scope is the file.
    var scopes: [Int] = [0]

    /// The conditions.
    var blocks: [ConditionalBlock] = []

    private let lines: LineTable

    init(path: String, source: [UInt8]) {
        self.path = path
        lines = LineTable(source)
        let conditions = ConditionalSkimmer.skim(Lexer.tokens(of: source), of: source)
        blocks = conditions.blocks
        var skimmer = DeclarationSkimmer(tokens: conditions.liveTokens, source: source)
        skimmer.run()
        types = skimmer.types
        functions = skimmer.functions
        scopes = skimmer.scopes
    }

    /// Returns the line and column of a byte, both counted from 1.
    func place(of offset: Int) -> (line: Int, column: Int) {
        lines.place(of: offset)
    }
}

/// The offsets at which the lines of a source start.
struct LineTable {
    private var starts = [0]

    init(_ source: [UInt8]) {
        for index in source.indices {
            let byte = source[index]
            let isLoneReturn =
                byte == UInt8(ascii: "\r") && (index + 1 == source.count || source[index + 1] != UInt8(ascii: "\n"))
            if byte == UInt8(ascii: "\n") || isLoneReturn { starts.append(index + 1) }
        }
    }

    /// Returns the line and column of a byte, both counted from 1; columns count bytes, as the compiler's do.
    func place(of offset: Int) -> (line: Int, column: Int) {
        var low = 0
        var high = starts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= offset { low = middle } else { high = middle }
        }
        return (low + 1, offset - starts[low] + 1)
    }
}
