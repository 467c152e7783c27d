import Foundation

/// What the tool is asked to do.
struct Arguments {
    /// Files that are judged together.
    struct Module {
        /// The files to check.
        var sources: [String] = []

        /// The files of the modules that it imports.
        var context: [String] = []
    }

    /// Whether to print a JSON object a line.
    private(set) var isJSON = false

    /// What to check.
    private(set) var modules: [Module] = []

    /// Reads `[--json] [--list FILE] FILE...`. The files given are one module; the list has a line for each file of
    /// further ones, since a command line may not have room for them.
    init(_ arguments: [String]) throws {
        var given = Module()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--json":
                isJSON = true
            case "--list":
                guard let path = rest.popFirst() else { throw UsageError("--list needs a file") }
                try addModules(listedIn: path)
            case _ where argument.hasPrefix("-"):
                throw UsageError("unknown option \(argument); usage: [--json] [--list FILE] FILE...")
            default:
                given.sources.append(argument)
            }
        }
        if !given.sources.isEmpty { modules.append(given) }
    }

    /// A list has the lines `module`, `source PATH` and `context PATH`.
    private mutating func addModules(listedIn path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else { throw UsageError("cannot read \(path)") }
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
            switch (parts.first, parts.count) {
            case ("module", _): modules.append(Module())
            case ("source", 2) where !modules.isEmpty: modules[modules.count - 1].sources.append(parts[1])
            case ("context", 2) where !modules.isEmpty: modules[modules.count - 1].context.append(parts[1])
            default: throw UsageError("\(path) has a line that is none of a list's: \(line)")
            }
        }
    }
}
