/// What a source declares and which of its parts a condition keeps from Linux.
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

    /// The line and column of a byte, both counted from 1.
    func place(of offset: Int) -> (line: Int, column: Int) {
        lines.place(of: offset)
    }
}
