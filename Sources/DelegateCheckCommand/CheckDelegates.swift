import DelegateCheck
import Foundation

/// Checks Swift files, and the modules that a list names; the tool behind `swift package check-beacon-delegates`.
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

    /// Prints what is found, and gives the exit status: 1 where anything is.
    private static func run(_ arguments: Arguments) throws -> Int32 {
        var findings: Set<Finding> = []
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
            // A file of two modules is told of once.
            findings.formUnion(DelegateCheck.findings(in: sources))
        }
        let sorted = findings.sorted { ($0.path, $0.line, $0.column) < ($1.path, $1.line, $1.column) }
        for finding in sorted { print(arguments.isJSON ? finding.json : finding.description) }
        if !arguments.isJSON { print(summary(sorted, files: files.count)) }
        return sorted.isEmpty ? 0 : 1
    }

    private static func summary(_ findings: [Finding], files: Int) -> String {
        let all = "\(files) file\(files == 1 ? "" : "s")"
        if findings.isEmpty { return "No finding in \(all)." }
        return "\(findings.count) finding\(findings.count == 1 ? "" : "s") in "
            + "\(Set(findings.map(\.path)).count) of \(all)."
    }
}
