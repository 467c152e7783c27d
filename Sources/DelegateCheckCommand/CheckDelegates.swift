import DelegateCheck
import Foundation

/// A check of Swift files, and of the modules that a list names; the tool behind `swift package
/// check-beacon-delegates`.
@main
struct CheckDelegates {
    static func main() {
        do {
            let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
            exit(try run(arguments))
        } catch {
            FileHandle.standardError.write(Data("error: \(error)\n".utf8))
            exit(2)
        }
    }

    /// Prints the findings.
    ///
    /// - Returns: the exit status: 1 if there is any finding, else 0.
    private static func run(_ arguments: Arguments) throws -> Int32 {
        var findings: Set<DelegateFinding> = []
        var files: Set<String> = []
        for module in arguments.modules {
            var sources: [SourceText] = []
            for path in module.sources + module.context {
                guard let data = FileManager.default.contents(atPath: path) else {
                    throw UsageError("cannot read \(path)")
                }
                let isContext = sources.count >= module.sources.count
                if !isContext { files.insert(path) }
                sources.append(SourceText(path: path, utf8: Array(data), isContext: isContext))
            }
            // A file of two modules is reported once.
            findings.formUnion(DelegateCheck.findings(in: sources))
        }
        let sorted = findings.sorted { ($0.path, $0.line, $0.column) < ($1.path, $1.line, $1.column) }
        for finding in sorted { print(arguments.isJSON ? finding.json : finding.description) }
        if !arguments.isJSON { print(summary(sorted, files: files.count)) }
        return sorted.isEmpty ? 0 : 1
    }

    private static func summary(_ findings: [DelegateFinding], files: Int) -> String {
        let all = "\(files) file\(files == 1 ? "" : "s")"
        if findings.isEmpty { return "No finding in \(all)." }
        return "\(findings.count) finding\(findings.count == 1 ? "" : "s") in "
            + "\(Set(findings.map(\.path)).count) of \(all)."
    }
}

/// The arguments of the tool.
struct Arguments {
    /// The files that are judged together.
    struct Module {
        /// The files to check.
        var sources: [String] = []

        /// The files of the modules that it imports.
        var context: [String] = []
    }

    /// A Boolean value that indicates whether to print a JSON object a line.
    private(set) var isJSON = false

    /// The modules to check.
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

    /// Reads a list, which has the lines `module`, `source PATH` and `context PATH`.
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

/// A mistake in the arguments.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
